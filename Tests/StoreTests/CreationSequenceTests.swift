// SPDX-License-Identifier: Apache-2.0
import Store
import Testing

struct CreationSequenceTests {
    @Test func `the numbers grow, however fast they are drawn, and every reader of JSON can hold them`() {
        let sequence = CreationSequence()
        let numbers = (0..<1_000).map { _ in sequence.next() }
        #expect(Set(numbers).count == 1_000 && numbers == numbers.sorted())
        #expect((numbers.first ?? 0) > 1_700_000_000_000_000 && (numbers.last ?? .max) < 1 << 53)
    }
}
