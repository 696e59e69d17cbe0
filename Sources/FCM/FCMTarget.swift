// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Text

/// Whom a message of FCM is for, and the member that says so.
struct FCMTarget {
    let member: JSONValue.Member

    /// A device. Installation ids replace registration tokens app by app; `token` is read as either for now, so it is what
    /// is sent in doubt.
    static func device(_ handle: String) -> FCMTarget {
        FCMTarget(member: JSONValue.Member(isInstallationID(handle) ? "fid" : "token", .string(handle)))
    }

    static func topic(_ name: String) -> FCMTarget {
        FCMTarget(member: JSONValue.Member("topic", .string(name)))
    }

    /// 16 bytes in base64url, the first four bits of which are always the same.
    private static func isInstallationID(_ handle: String) -> Bool {
        let bytes = handle.utf8
        guard bytes.count == 22, let first = bytes.first, "cdef".utf8.contains(first) else { return false }
        return bytes.allSatisfy(ASCII.isURLSafe)
    }
}
