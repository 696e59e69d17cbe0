// SPDX-License-Identifier: Apache-2.0
import Testing

/// The recorded sessions, asked again of this hub: statuses, header fields and bodies are the same, but for ids and times.
@Suite(.enabled(if: RecordedSession.folder != nil, "set AZURE_RECORDINGS to a folder of recorded answers"))
struct RecordedSessionTests {
    @Test func `every recorded session is answered as recorded`() throws {
        let sessions = try RecordedSession.all()
        var (agreeing, calls, agreeingCalls) = (0, 0, 0)
        for session in sessions {
            var replay = Replay(session)
            let differences = try replay.differences()
            calls += differences.count
            agreeingCalls += differences.count(where: \.isEmpty)
            if differences.allSatisfy(\.isEmpty) { agreeing += 1 }
            for (index, difference) in differences.enumerated() where !difference.isEmpty {
                Issue.record("\(session.name), call \(index + 1): \(difference)")
            }
        }
        print("recorded sessions: \(agreeing) of \(sessions.count) agree, \(agreeingCalls) of \(calls) calls")
        #expect(!sessions.isEmpty)
    }
}
