// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

extension Query {
    /// A wish in a query: `unread=true`. False when nothing is said.
    /// - Throws: `Problem` 400, for anything but `true` and `false`.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch self[name]?.lowercased() {
        case nil, "false": return false
        case "true": return true
        default: throw Problem(.invalidValue, "\(name) must be true or false.", field: name)
        }
    }
}
