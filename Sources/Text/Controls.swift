// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether a terminal may obey it in place of showing it, or a reader may see something else than what is there: a
    /// control, a character of format, such as one that turns the direction of writing, or a separator of lines.
    package var isControl: Bool {
        guard value >= 0x7F else { return value < 0x20 }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether there is one in it.
    package var hasControls: Bool { unicodeScalars.contains(where: \.isControl) }

    /// With a question mark in the place of each, for a terminal.
    package var withoutControls: String {
        guard hasControls else { return String(self) }
        return String(String.UnicodeScalarView(unicodeScalars.lazy.map { $0.isControl ? "?" : $0 }))
    }
}
