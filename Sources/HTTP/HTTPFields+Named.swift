// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes

extension HTTPFields {
    /// The value of a field that is there once; nil where there is none, and where there are several.
    package func only(_ name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }),
            !self[(index + 1)...].contains(where: { $0.name == name })
        else { return nil }
        return self[index].value
    }

    /// The value of a field that HTTPTypes has no name of; of a field that is there several times all values. Names are
    /// compared without case. Setting does nothing for a text that is not a field's name.
    package subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            guard let name = HTTPField.Name(name) else { return }
            self[name] = newValue
        }
    }
}
