// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import Support

import class System.Lock

/// A FastCGI responder, written by hand, that dies in the moments in which a real one dies seldom.
final class ScriptedResponder: Sendable {
    /// What it does other than answer.
    struct Script: Sendable {
        /// So many POSTs are read and carried out, and their connections closed without an answer.
        var deadlyPosts = 0
        /// A connection that has carried a request is closed as soon as the next one has arrived on it, unread.
        var closesKeptConnections = false
    }

    let socket: String
    private let script: Script
    private let listener: Int32
    private let carriedOut = Lock(0)
    /// Those that are open; nil: a new one is turned away.
    private let connections = Lock<Set<Int32>?>([])
    private let threads = DispatchGroup()

    init(in folder: ScratchFolder, _ script: Script) throws {
        socket = folder.path("scripted.sock")
        self.script = script
        listener = try LoopbackSocket.listen(at: socket)
        threads.enter()
        Thread { [self] in acceptAll() }.start()
    }

    /// The POSTs that it has read to their ends.
    var posts: Int { carriedOut.withLock(\.self) }

    /// Closes everything, and returns when its threads have ended.
    /// - Returns: whether they have.
    @discardableResult func stop() -> Bool {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock {
            $0?.forEach { _ = shutdown($0, Int32(SHUT_RDWR)) }
            $0 = nil
        }
        return threads.wait(timeout: .now() + 60) == .success
    }

    private func acceptAll() {
        defer {
            close(listener)
            threads.leave()
        }
        while true {
            let number = accept(listener, nil, nil)
            guard number >= 0 else { return }
            guard connections.withLock({ $0?.insert(number).inserted }) != nil else {
                close(number)
                return
            }
            threads.enter()
            Thread { [self] in
                serve(number)
                connections.withLock { _ = $0?.remove(number) }
                close(number)
                threads.leave()
            }.start()
        }
    }

    private func serve(_ number: Int32) {
        var isKept = false
        while true {
            if isKept, script.closesKeptConnections {
                var first: UInt8 = 0
                _ = recv(number, &first, 1, Int32(MSG_PEEK))
                return
            }
            guard let request = Self.readRequest(number), carryOut(request), Self.answer(number) else { return }
            isKept = true
        }
    }

    /// - Returns: whether it lives to answer.
    private func carryOut(_ parameters: [UInt8]) -> Bool {
        // A parameter's name and its value stand together in FastCGI.
        guard String(decoding: parameters, as: UTF8.self).contains("REQUEST_METHODPOST") else { return true }
        return carriedOut.withLock { posts in
            posts += 1
            return posts > script.deadlyPosts
        }
    }

    /// - Returns: the parameters of one request, when it has arrived whole; nil when the connection has ended.
    private static func readRequest(_ number: Int32) -> [UInt8]? {
        var parameters: [UInt8] = []
        while let header = read(number, 8) {
            guard let content = read(number, Int(header[4]) << 8 | Int(header[5])), read(number, Int(header[6])) != nil
            else { return nil }
            if header[1] == 4 { parameters += content }
            // The end of the body is the end of the request.
            if header[1] == 5, content.isEmpty { return parameters }
        }
        return nil
    }

    private static func read(_ number: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(number, $0.baseAddress.map { $0 + length }, count - length, 0)
            }
            guard got > 0 else { return nil }
            length += got
        }
        return bytes
    }

    private static func answer(_ number: Int32) -> Bool {
        func record(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
            [1, kind, 0, 1, 0, UInt8(content.count), 0, 0] + content
        }
        let text = Array("Status: 200 OK\r\nContent-Type: text/plain\r\n\r\nok".utf8)
        let bytes = record(6, text) + record(6, []) + record(3, [UInt8](repeating: 0, count: 8))
        return send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
