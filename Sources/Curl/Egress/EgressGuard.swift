// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Lets one transfer connect, or not.
///
/// libcurl asks after the name was looked up, once for each address that it tries, and connects to exactly that address.
/// It asks again when a connection is there and before the request is sent: one that was kept may have been opened for
/// another host. libcurl itself gives it to the same host and port only; that need not be believed.
struct EgressGuard {
    private let policy: AddressPolicy
    private let hostAndPort: String
    private let isIdempotent: Bool
    private let sockets: OpenSockets
    /// Of the connection over which the request was sent last.
    private var localPort: Int32?
    private var hasOpened = false
    private var hasRefused = false
    /// Whether a connection was there and the request was about to be sent.
    private(set) var hasBegun = false

    /// - Parameters:
    ///   - isIdempotent: whether sending the request twice does what sending it once does.
    ///   - sockets: those of all transfers.
    init(_ policy: AddressPolicy, for hostAndPort: String, isIdempotent: Bool, sockets: OpenSockets) {
        self.policy = policy
        self.hostAndPort = hostAndPort
        self.isIdempotent = isIdempotent
        self.sockets = sockets
    }

    /// Whether there was no address that might be used. A host that has good addresses, too, and does not answer on
    /// them, is unreachable like any other.
    var hasOnlyRefused: Bool { hasRefused && !hasOpened && !hasBegun }

    /// `CURLOPT_PREREQFUNCTION(3)`.
    ///
    /// libcurl sends a request again by itself in two cases. The server has refused the stream (`REFUSED_STREAM`, RFC 9113
    /// section 8.7): then it has not looked at it, and the connection is still open. Or a connection that was kept has ended
    /// before the first byte of an answer, over HTTP/1 or HTTP/2: then the request may have been taken all the same.
    /// - Parameters:
    ///   - address: the peer's.
    ///   - localPort: ours.
    /// - Returns: whether the request may be sent on that connection.
    mutating func begin(at address: UnsafePointer<CChar>, from localPort: Int32) -> Bool {
        if let before = self.localPort, !isIdempotent, !sockets.isConnected(from: before) { return false }
        guard policy.allows(IPAddress(text: address), for: hostAndPort) else {
            hasRefused = true
            return false
        }
        hasBegun = true
        self.localPort = localPort
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
        let number = socket(target.pointee.family, kind, target.pointee.protocol)
        if number >= 0 { sockets.add(number) }
        return number
    }

    /// The structure's last member is declared as a `sockaddr` and has room for the largest of them.
    private static func address(of target: UnsafePointer<curl_sockaddr>) -> IPAddress? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        return IPAddress(UnsafeRawPointer(target) + offset, length: Int(target.pointee.addrlen))
    }
}
