// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// The recipients that a scheduled message or an app token names, each with its owner when it was made: the next user of a name, or
/// of a device, is not the recipient who was meant.
package struct NamedOwners: Equatable, Sendable {
    /// By the name of the user, or by `device:` and the id.
    let owners: [String: String]

    init(_ owners: [String: String]) { self.owners = owners }

    /// Of two lists of the same length: names, and their owners.
    init(_ names: [String], _ owners: [String]) {
        self.owners = Dictionary(zip(names, owners)) { first, _ in first }
    }

    /// Whether what has this owner now had another one then. False for what is not named here.
    func isAnother(_ name: String, _ owner: String) -> Bool {
        owners[name].map { !$0.hasSameBytes(as: owner) } ?? false
    }
}

extension Recipient {
    /// As which `NamedOwners` has the text; nil: it names neither a user nor a device.
    static func ownedName(_ text: String) -> String? {
        switch Recipient(text) {
        case .user(let name): UserName(name)?.description
        case .device(let id): RegistrationID(id).map { TagPolicy.devicePrefix + $0.description }
        case .tag, .role, .expression, .everyone: nil
        }
    }
}

extension StateStore {
    /// The owner whom sends to that name reach. A name without a user has the owner of its next user.
    func owner(ofName name: String) throws(StoreError) -> String { try userRecord(name)?.successor ?? name }

    /// The owners of the names, in their order.
    func owners(ofNames names: [String]) throws(StoreError) -> [String] {
        var owners: [String] = []
        for name in names { owners.append(try owner(ofName: name)) }
        return owners
    }
}
