// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Lets one transfer connect, or not.
///
/// libcurl asks after the name was looked up, once for each address that it tries, and connects to exactly that address.
/// It asks again when a connection is there and before the request is sent: one that was kept may have been opened for
/// another host. libcurl itself gives it to the same host and port only; that need not be believed.
struct SocketGate {
    private let policy: AddressPolicy
    private let hostAndPort: String
    private let mayBeginAgain: Bool
    private var hasOpened = false
    private var hasRefused = false
    /// Whether a connection was there and the request was about to be sent.
    private(set) var hasBegun = false

    /// - Parameter mayBeginAgain: whether libcurl may send the request a second time. It does so by itself where a kept
    ///   connection ends without an answer; over HTTP/1 the first one may have been taken all the same. Over HTTP/2 it
    ///   does so only where the server has said that it was not.
    init(_ policy: AddressPolicy, for hostAndPort: String, mayBeginAgain: Bool = true) {
        self.policy = policy
        self.hostAndPort = hostAndPort
        self.mayBeginAgain = mayBeginAgain
    }

    /// Whether there was no address that might be used. A host that has good addresses, too, and does not answer on
    /// them, is unreachable like any other.
    var hasOnlyRefused: Bool { hasRefused && !hasOpened && !hasBegun }

    /// `CURLOPT_PREREQFUNCTION(3)`.
    /// - Parameter address: the peer's.
    /// - Returns: whether the request may be sent on that connection.
    mutating func begin(at address: UnsafePointer<CChar>) -> Bool {
        guard !hasBegun || mayBeginAgain else { return false }
        guard policy.allows(IPAddress(text: address), for: hostAndPort) else {
            hasRefused = true
            return false
        }
        hasBegun = true
        return true
    }

    /// `CURLOPT_OPENSOCKETFUNCTION(3)`.
    /// - Returns: the socket, or `CURL_SOCKET_BAD`, upon which libcurl tries the next address.
    mutating func open(_ target: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard policy.allows(Self.address(of: target), for: hostAndPort) else {
            hasRefused = true
            return CURL_SOCKET_BAD
        }
        hasOpened = true
        let kind = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(target.pointee.family, kind, target.pointee.protocol)
    }

    /// The structure's last member is declared as a `sockaddr` and has room for the largest of them.
    private static func address(of target: UnsafePointer<curl_sockaddr>) -> IPAddress? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        return IPAddress(UnsafeRawPointer(target) + offset, length: Int(target.pointee.addrlen))
    }
}
