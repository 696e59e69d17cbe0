// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import NotificationHub
import Testing

/// Recorded answers of the real service, in the folder that `AZURE_RECORDINGS` names.
@Suite(.enabled(if: Recordings.folder != nil, "set AZURE_RECORDINGS to a folder of recorded answers"))
struct RecordingTests {
    @Test func `every recorded registration survives being read and written`() throws {
        var types: [String: Int] = [:]
        var documents = 0
        for call in try Recordings.calls() {
            let again: [UInt8]
            var entries: [AtomEntry] = []
            if call.content.hasPrefix("<feed") {
                let feed = try AtomFeed(decoding: [UInt8](call.content.utf8))
                #expect(feed.unreadable == 0)
                entries = feed.entries
                again = feed.encode()
            } else if call.content.hasPrefix("<entry") {
                entries = [try AtomEntry(decoding: [UInt8](call.content.utf8))]
                again = entries[0].encode()
            } else {
                continue
            }
            documents += 1
            #expect(ElementList(Sample.text(again)) == ElementList(call.content))
            for registration in entries.map(\.registration) {
                types[registration.platform.descriptionElement(isTemplate: registration.template != nil), default: 0] +=
                    1
                try Self.expectTheSameAsRequest(registration)
            }
            #expect(
                entries.count == call.content.split(separator: "<entry ").count
                    - (again.starts(with: "<feed".utf8) ? 1 : 0))
        }
        #expect(documents > 0)
        #expect(!types.isEmpty)
        print("recordings: \(documents) documents, registrations: \(types.sorted { $0.key < $1.key })")
    }

    /// What the hub reported can be asked of it again, but for what is the hub's own.
    private static func expectTheSameAsRequest(_ registration: RegistrationDescription) throws {
        var asked = registration
        asked.id = nil
        asked.etag = nil
        asked.expirationTime = nil
        asked.tags = registration.tags.filter { !$0.isSystem }
        asked.unaddressableTags = []
        #expect(try AtomEntry.decodeRequest(AtomEntry.encodeRequest(asked)) == asked)
    }

    @Test func `every recorded error and every recorded id is understood`() throws {
        var errors = 0
        var ids = 0
        for call in try Recordings.calls() {
            if call.content.hasPrefix("<Error") {
                #expect(try ErrorDocument(decoding: [UInt8](call.content.utf8)).code == String(call.status))
                errors += 1
            }
            if let location = call.location, location.contains("/registrationids/") {
                let last = location.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
                #expect(RegistrationID(last) != nil)
                ids += 1
            }
        }
        #expect(errors > 0 && ids > 0)
    }
}

/// One recorded answer.
struct RecordedCall {
    var status: Int
    var content: String
    var location: String?
}

enum Recordings {
    static let folder = ProcessInfo.processInfo.environment["AZURE_RECORDINGS"]

    static func calls() throws -> [RecordedCall] {
        let folder = URL(fileURLWithPath: try #require(folder), isDirectory: true)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "http" }.flatMap { file in
            let document = try JSONValue(parsing: withoutTrailingCommas([UInt8](Data(contentsOf: file))))
            return try #require(document["HttpCalls"]?.array).map { call in
                RecordedCall(
                    status: try #require(call["StatusCode"]?.integer), content: call["Content"]?.string ?? "",
                    location: call["Headers"]?["Location"]?.string)
            }
        }
    }

    /// Recorders of other languages leave a comma before a closing bracket, and a mark before the text.
    private static func withoutTrailingCommas(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var isText = false
        var isEscaped = false
        for byte in bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...] {
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}"), !isText {
                while let last = result.last, " \r\n\t".utf8.contains(last) { result.removeLast() }
                if result.last == UInt8(ascii: ",") { result.removeLast() }
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isText.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            result.append(byte)
        }
        return result
    }
}
