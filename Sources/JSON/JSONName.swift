// SPDX-License-Identifier: Apache-2.0

/// The name of a member that is written often, made ready once.
package struct JSONName: Sendable {
    /// `"name":`
    fileprivate let bytes: [UInt8]

    /// Escapes the name.
    package init(_ name: String) {
        var json = JSONWriter(reservingCapacity: name.utf8.count + 3)
        json.name(name)
        bytes = json.bytes
    }
}

extension JSONWriter {
    /// Writes a member's name; its value must be written next.
    package mutating func name(_ name: JSONName) { raw(name.bytes) }
}
