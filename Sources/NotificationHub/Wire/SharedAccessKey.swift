// SPDX-License-Identifier: Apache-2.0
package import Text

/// What the holder of a key may do at a hub.
package struct AccessRights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Create, update, read and delete single registrations and installations; read those of one handle.
    package static let listen = AccessRights(rawValue: 1)
    /// Send messages.
    package static let send = AccessRights(rawValue: 2)
    /// Everything else: lists of all registrations or of a tag's, jobs, the hub itself.
    package static let manage = AccessRights(rawValue: 4)
    /// What `DefaultFullSharedAccessSignature` may.
    package static let full: AccessRights = [.listen, .send, .manage]
}

/// A named key of a hub (Azure calls the name a policy), as both ends hold it.
package struct SharedAccessKey: Sendable {
    /// The policy's name, `skn` in a signature: `DefaultFullSharedAccessSignature`.
    package let name: String
    /// The key's text. Its UTF-8 bytes are the key; it is not decoded, although it looks like base 64.
    package let key: Secret
    /// What signatures made with the key grant.
    package let rights: AccessRights

    package init(name: String, key: Secret, rights: AccessRights) {
        self.name = name
        self.key = key
        self.rights = rights
    }
}
