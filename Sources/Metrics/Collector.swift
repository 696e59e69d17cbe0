// SPDX-License-Identifier: Apache-2.0

/// Something that has numbers to tell when it is asked: a family that was counted, or a reading that is made only then.
package protocol Collector: Sendable {
    /// Writes its families, whole, each once.
    func collect(into exposition: inout Exposition)
}
