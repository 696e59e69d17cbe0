// SPDX-License-Identifier: Apache-2.0
import Store

/// What a look at every line of a store has found. It names files and lines, never what they hold.
package struct StoreReport: Equatable, Sendable {
    /// A line that something is wrong with.
    package struct Fault: Equatable, Sendable {
        /// Relative to the store's folder.
        package let file: String
        /// From 1.
        package let line: Int
        package let reason: String
    }

    /// So many faults are kept one by one; all are counted.
    static let maximumFaults = 1_000

    /// Lines that were read.
    package internal(set) var lines = 0
    /// Lines that cannot be read, or lie in a file where no call looks for them: what they say is lost.
    package internal(set) var faultyLines = 0
    /// The first of those.
    package internal(set) var faults: [Fault] = []
    /// Lines that end in their middle: their writer died, or they were copied while it wrote. No caller was told that
    /// they were kept.
    package internal(set) var cutLines = 0
    /// Lines that were edited by hand; they count.
    package internal(set) var editedLines = 0
    /// How many lines are missing of each index: their records are there, but are not found by it.
    package internal(set) var missingIndexLines: [String: Int] = [:]
    /// Whether the folder is a copy, or of an older version, and was not opened yet: what is missing in its indexes is
    /// added when it is.
    package internal(set) var isUnopenedCopy = false

    /// Whether all is as it should be.
    package var isWhole: Bool { faultyLines == 0 && (isUnopenedCopy || missingIndexLines.isEmpty) }

    mutating func add(_ fault: Fault) {
        faultyLines += 1
        if faults.count < Self.maximumFaults { faults.append(fault) }
    }
}
