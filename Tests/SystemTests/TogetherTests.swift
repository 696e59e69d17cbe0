// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@Suite struct TogetherTests {
    @Test func `answers come in the order of those who were asked`() {
        let answers = Together.ask([1, 2, 3], waiting: .seconds(60)) { number, answer in
            if number == 2 { return answer(number * 10) }
            if DetachedThread.start({ answer(number * 10) }) != 0 { answer(0) }
        }
        #expect(answers == [10, 20, 30])
    }

    @Test func `who does not answer in time is left out`() {
        let answers: [Int?] = Together.ask([1, 2], waiting: .zero) { number, answer in
            if number == 2 { answer(number) }
        }
        #expect(answers == [nil, 2])
    }
}
