// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes

/// Why a change of users was not made. The description is what the command says; for what the API says there is `Problem`.
package enum AdministrationError: Error, Equatable, CustomStringConvertible {
    case badName
    /// No user has that name.
    case noUser(String)
    /// A user of that name can only be one of an issuer's, and there is nothing of theirs: no such user may ever have been.
    case leftNothing(String)
    /// A user of that name is there already.
    case isThere(String)
    /// The name is so long that a further user of it cannot be told from the former ones.
    case nameIsUsedUp(String)
    /// The configuration has no such role.
    case noRole(String)
    case unusablePassword
    case shortPassword
    /// The user of that name has no device of the id that was given.
    case noDevice(String)
    /// The user of that name has no session of the id that was given.
    case noSession(String)

    package var description: String {
        switch self {
        case .badName:
            "A user's name has 1 to \(UserName.maximumLength) letters, digits and _ - @ # . (Unicode's form NFC), "
                + "does not begin with -, and is not . or .. alone"
        case .noUser(let name): "There is no user \(name)."
        case .leftNothing(let name):
            "User \(name) has no data here. "
                + "To block an SSO user before the first login: `app-backend user disable \(name)`."
        case .isThere(let name): "There is a user \(name) already; `user passwd` changes the password."
        case .nameIsUsedUp(let name):
            "The name \(name) was removed before, and is too long to be told from that one: take another."
        case .noRole(let role): "There is no role \(role) in the configuration."
        case .unusablePassword:
            "A password has 1 to \(PasswordHash.maximumPasswordBytes) bytes, and no control characters."
        case .shortPassword: "A password has \(UserAdministration.minimumPassword) characters or more."
        case .noDevice(let name): "\(name) has no device of that id."
        case .noSession(let name): "\(name) has no session of that id."
        }
    }
}

extension Problem {
    init(_ error: AdministrationError) {
        switch error {
        case .badName: self.init(.invalidValue, error.description, field: "UserName")
        case .noUser, .leftNothing: self.init(.noSuchUser, "There is no such user.")
        case .isThere: self.init(.userExists, "There is a user of that name already.", field: "UserName")
        case .nameIsUsedUp: self.init(.userExists, error.description, field: "UserName")
        case .noRole: self.init(.unknownRole, error.description, field: "Roles")
        case .unusablePassword, .shortPassword: self.init(.unusablePassword, error.description, field: "Password")
        case .noDevice: self.init(.noSuchDevice, "This user has no such device.")
        case .noSession: self.init(.noSuchSession, "This user has no such session.")
        }
    }
}
