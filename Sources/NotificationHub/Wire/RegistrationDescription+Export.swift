// SPDX-License-Identifier: Apache-2.0
import XML

extension RegistrationDescription {
    /// Reads the element of a registration without an Atom entry around it, as in a line of Azure's export.
    /// - Throws: `AtomError`.
    package init(element bytes: [UInt8]) throws(AtomError) {
        self = try DescriptionReader(AtomError.root(of: bytes)).description()
    }
}
