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
    private let resends: Resends
    private var hasOpened = false
    private var hasForbidden = false
    /// How often a connection was there and the request was about to be sent.
    private(set) var sendings = 0
    /// Whether the server has refused to process the request, and it was not sent again since.
    private(set) var isRefused = false

    init(_ policy: AddressPolicy, for hostAndPort: String, resends: Resends) {
        self.policy = policy
        self.hostAndPort = hostAndPort
        self.resends = resends
    }

    /// Whether there was no address that might be used. A host that has good addresses, too, and does not answer on
    /// them, is unreachable like any other.
    var hasOnlyForbidden: Bool { hasForbidden && !hasOpened && sendings == 0 }

    /// `CURLOPT_PREREQFUNCTION(3)`.
    /// - Parameter address: the peer's.
    /// - Returns: whether the request may be sent on that connection.
    mutating func begin(at address: UnsafePointer<CChar>) -> Bool {
        guard maySend() else { return false }
        guard policy.allows(IPAddress(text: address), for: hostAndPort) else {
            hasForbidden = true
            return false
        }
        sendings += 1
        isRefused = false
        return true
    }

    /// Whether the request was not sent yet, or libcurl may send it again.
    private mutating func maySend() -> Bool {
        guard sendings > 0 else { return true }
        switch resends {
        case .any: return true
        case .none: return false
        case .refused(let maximum):
            isRefused = true
            return sendings <= maximum
        }
    }

    /// `CURLOPT_OPENSOCKETFUNCTION(3)`.
    /// - Returns: the socket, or `CURL_SOCKET_BAD`, upon which libcurl tries the next address.
    mutating func open(_ target: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard maySend() else { return CURL_SOCKET_BAD }
        guard policy.allows(Self.address(of: target), for: hostAndPort) else {
            hasForbidden = true
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
