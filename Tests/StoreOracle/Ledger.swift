// SPDX-License-Identifier: Apache-2.0

/// What writers have told, put together: of each record the states that it went through, and which it may be in.
struct Ledger {
    struct MalformedLog: Error { let line: Int }

    /// One record's states, in the order in which one writer brought them about.
    struct History {
        private(set) var states = [Journal.absent]
        /// The index of the last state that was promised: an earlier one is a loss.
        private(set) var promised = 0

        /// What the record may be: the last that was promised, or what was begun after that.
        var possible: ArraySlice<String> { states[promised...] }
        /// Whether it must be there.
        var isPromised: Bool { !possible.contains(Journal.absent) }

        mutating func begin(_ state: String) { states.append(state) }

        mutating func refuse() { if states.count > promised + 1 { states.removeLast() } }

        mutating func promise() { promised = states.count - 1 }
    }

    private(set) var histories: [Kind: [String: History]] = [:]
    /// The ids that notifications were promised under.
    private(set) var notificationIDs: [String: Int32] = [:]
    private(set) var promises = 0
    private(set) var refusals = 0

    /// - Parameter afterPowerCut: hints promise nothing then.
    private let afterPowerCut: Bool

    init(afterPowerCut: Bool) {
        self.afterPowerCut = afterPowerCut
    }

    /// - Parameter binding: promises behind so many bytes came after the moment that is asked about; nil: none did.
    mutating func read(_ log: [UInt8], binding: Int?) throws(MalformedLog) {
        var offset = 0
        for (index, bytes) in log.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            offset += bytes.count + 1
            // Behind the last line feed there is nothing, or what a writer could not end.
            guard offset <= log.count else { return }
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
            guard let mark = words.first.flatMap(Journal.Mark.init) else { throw MalformedLog(line: index + 1) }
            let isBinding = binding.map { offset <= $0 } ?? true
            if mark == .remark {
                if words.count == 4, words[1] == "id", isBinding { notificationIDs[words[2]] = Int32(words[3]) }
                continue
            }
            guard words.count == 4, let kind = Kind(rawValue: words[1]) else { throw MalformedLog(line: index + 1) }
            // Taken out, so that its states are not copied.
            var history = histories[kind, default: [:]].removeValue(forKey: words[2]) ?? History()
            apply(mark, words[3], isBinding: isBinding, to: &history)
            histories[kind, default: [:]][words[2]] = history
        }
    }

    private mutating func apply(_ mark: Journal.Mark, _ state: String, isBinding: Bool, to history: inout History) {
        switch mark {
        case .intent: history.begin(state)
        case .refusal:
            refusals += 1
            history.refuse()
        case .promise, .hint:
            guard isBinding else { return }
            promises += 1
            if mark == .promise || !afterPowerCut { history.promise() }
        case .remark: break
        }
    }
}
