// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A connection remembers by name what it has prepared, so two statements of one name would run as one of them.
@Suite struct `The statements` {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../Sources/PostgresStore").standardized

    @Test func `have a name each`() throws {
        var names: [Substring] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path) where file.hasSuffix(".swift")
        {
            let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            names += text.matches(of: /Statement\.(?:reading|writing)\(\s*"([^"\\]+)"/).map(\.output.1)
        }
        #expect(names.count > 40)
        let doubles = Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.keys
        #expect(doubles.isEmpty)
    }
}
