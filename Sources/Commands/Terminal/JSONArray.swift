// SPDX-License-Identifier: Apache-2.0
import JSON

/// What `--json` prints of a list.
enum JSONArray {
    /// One array, with an object for each element.
    static func text<Element>(_ elements: [Element], _ writeMembers: (Element, inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.array { json in
            for element in elements { json.object { writeMembers(element, &$0) } }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
