// SPDX-License-Identifier: Apache-2.0
import DeviceAPI

/// What one text in `To` names, by its beginning. What follows that is not looked at yet.
enum Recipient {
    case user(String)
    /// `tag:news`: the tag.
    case tag(String)
    /// `role:oncall`: the role's name.
    case role(String)
    /// `device:…`: the registration's id.
    case device(String)
    /// `tags:news && !beta`: the expression.
    case expression(String)
    case everyone

    init(_ text: String) {
        if let tag = text.dropping(TagPolicy.tagPrefix) {
            self = .tag(tag)
        } else if let role = text.dropping(TagPolicy.rolePrefix) {
            self = .role(role)
        } else if let id = text.dropping(TagPolicy.devicePrefix) {
            self = .device(id)
        } else if let expression = text.dropping(TagPolicy.expressionPrefix) {
            self = .expression(expression)
        } else {
            self = text == PushMessage.Recipients.everyoneText ? .everyone : .user(text)
        }
    }
}

extension String {
    /// Nil, where it does not begin with that, in any case.
    package func dropping(_ prefix: String) -> String? {
        lowercased().hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
