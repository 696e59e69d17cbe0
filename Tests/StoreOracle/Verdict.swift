// SPDX-License-Identifier: Apache-2.0
import JSON
import Store

/// What a comparison has found.
struct Verdict {
    /// So many faults are named one by one; all are counted.
    private static let maximumFaults = 20

    /// Changes that were promised.
    var promises = 0
    var refusals = 0
    /// Records that must be there.
    var expected = 0
    /// Records that are there.
    var visible = 0
    /// Those among them that were not promised: begun, and cut off.
    var unpromised = 0
    /// Records that are not there, or in a state from before the last promise.
    private(set) var lost = 0
    /// Records whose parts do not belong together.
    private(set) var torn = 0
    /// Records that no writer wrote, or that an index has twice, or not at all.
    private(set) var wrong = 0
    /// What `verify` said: lines that cannot be read, and halves of lines.
    var brokenLines = 0
    var cutLines = 0
    private var faults: [String] = []

    var isGood: Bool { lost + torn + wrong == 0 }

    mutating func lose(_ what: String) { lost += 1; name("lost: " + what) }
    mutating func tear(_ what: String) { torn += 1; name("torn: " + what) }
    mutating func doubt(_ what: String) { wrong += 1; name("wrong: " + what) }

    private mutating func name(_ fault: String) {
        if faults.count < Self.maximumFaults { faults.append(fault) }
    }

    /// One JSON object.
    var text: String {
        var json = JSONWriter()
        json.object {
            $0.member("acknowledged", promises)
            $0.member("refused", refusals)
            $0.member("expected", expected)
            $0.member("visible", visible)
            $0.member("unacknowledged", unpromised)
            $0.member("lost", lost)
            $0.member("torn", torn)
            $0.member("wrong", wrong)
            $0.member("brokenLines", brokenLines)
            $0.member("cutLines", cutLines)
            $0.name("faults")
            $0.array { json in faults.forEach { json.string($0) } }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
