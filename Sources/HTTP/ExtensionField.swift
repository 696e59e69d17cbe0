// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A header field that HTTPTypes has no name of. The room that speaks of it names it in an extension: `fields[.urgency]`.
public struct ExtensionField: Hashable, Sendable {
    /// As it is written.
    package let text: String
    /// Made once, not in each request. Nil for a text that is not a field's name: such a field has no value.
    package let name: HTTPField.Name?

    package init(_ text: String) {
        (self.text, name) = (text, HTTPField.Name(text))
    }
}

extension HTTPFields {
    /// The value of a field that is there once; nil where there is none, and where there are several.
    package func only(_ name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }),
            !self[(index + 1)...].contains(where: { $0.name == name })
        else { return nil }
        return self[index].value
    }

    /// The field's value; of a field that is there several times all values, so that none of them alone counts. Names are
    /// compared without case.
    public subscript(_ field: ExtensionField) -> String? {
        get { field.name.flatMap { self[$0] } }
        set {
            guard let name = field.name else { return }
            self[name] = newValue
        }
    }

    /// The value of a field that is asked for in one place alone.
    package subscript(named name: String) -> String? {
        get { self[ExtensionField(name)] }
        set { self[ExtensionField(name)] = newValue }
    }
}
