// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Opens the sockets of one transfer, or does not (`CURLOPT_OPENSOCKETFUNCTION(3)`): libcurl asks after the name was
/// looked up, once for each address that it tries, and connects to exactly that address.
///
/// A connection that is kept serves the same host and port only: libcurl compares both, as they stand in the URL.
struct SocketGate {
    private let policy: AddressPolicy
    private let hostAndPort: String
    private var hasOpened = false
    private var hasRefused = false

    init(_ policy: AddressPolicy, for hostAndPort: String) {
        self.policy = policy
        self.hostAndPort = hostAndPort
    }

    /// Whether there was no address that might be tried. A host that has good addresses, too, and does not answer on
    /// them, is unreachable like any other.
    var hasOnlyRefused: Bool { hasRefused && !hasOpened }

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
