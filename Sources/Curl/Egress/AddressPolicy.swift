// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Which addresses may be connected to, whatever name led there.
///
/// A name says nothing about where it leads: the owner of a domain can let it lead to this host, to the network around
/// it or to a cloud's metadata, and elsewhere a moment later. So the address is judged, at every connection.
package struct AddressPolicy: Equatable, Sendable {
    /// Nil: every address is good.
    private let exceptions: Set<String>?

    /// Any address: for hosts that the operator has named.
    package static let any = AddressPolicy(exceptions: nil)

    /// Addresses of the public Internet only (`IPAddress.isPublic`): for hosts that others have named.
    /// - Parameter exceptions: `host:port` as requests name them; they may be anywhere. The case does not matter.
    package static func publicOnly(except exceptions: Set<String> = []) -> AddressPolicy {
        AddressPolicy(exceptions: Set(exceptions.map { $0.lowercased() }))
    }

    /// - Parameters:
    ///   - address: nil for one of an unknown family.
    ///   - hostAndPort: what the request is made to, in lower case and with the port.
    func allows(_ address: IPAddress?, for hostAndPort: String) -> Bool {
        guard let exceptions else { return true }
        return exceptions.contains(hostAndPort) || address?.isPublic == true
    }
}
