// SPDX-License-Identifier: Apache-2.0
import AppBackend
import HTTP
import Support
import System
import Testing
import Text

@testable import Server

/// The service is looked at for administrators: once at a time, and not more often than once a minute.
struct ExaminerTests {
    /// A clock that is set, and a look that goes on until it may end.
    private final class Stage: Sendable {
        let seconds = Lock(Int64(1_000_000))
        let begun = Semaphore()
        let mayEnd = Semaphore()
        let looks = Lock(0)
        private let start = ContinuousClock.now

        private let folder: ScratchFolder

        init() throws { folder = try ScratchFolder() }

        func examiner() throws -> Examiner {
            let examiner = Examiner(
                now: { [self] in Timestamp(seconds: seconds.withLock(\.self)) },
                clock: { [self] in start + .seconds(seconds.withLock(\.self)) },
                look: { [self] _ in
                    let look = looks.withLock { looks in
                        looks += 1
                        return looks
                    }
                    begun.signal()
                    mayEnd.wait()
                    return [.init(step: "store", verdict: "ok", found: "look \(look)")]
                })
            var configuration = SiteConfiguration()
            configuration.store = .folder(folder.path("store"))
            let store = try Site.openStore(configuration) { _ in }
            examiner.watch(RunningSite(store: store, responder: ClosureResponder { _ in Response() }))
            return examiner
        }

        func pass(_ more: Int64) { seconds.withLock { $0 += more } }

        /// What is known when the look that is under way has ended.
        func finish(_ examiner: Examiner) -> SiteFindings {
            mayEnd.signal()
            while true {
                let found = examiner.findings
                if !found.isLooking { return found }
            }
        }
    }

    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func `the first question begins a look, and its findings are kept for a minute`() throws {
        let examiner = try stage.examiner()
        #expect(examiner.findings == SiteFindings(isLooking: true))
        let found = stage.finish(examiner)
        #expect(found.findings.map(\.found) == ["look 1"] && found.lookedAt == Timestamp(seconds: 1_000_000))
        stage.pass(Examiner.keptSeconds)
        #expect(examiner.findings == found)
        stage.pass(1)
        // The old findings are there while the newer look is under way.
        let between = examiner.findings
        #expect(between.isLooking && between.findings == found.findings && between.lookedAt == found.lookedAt)
        #expect(stage.finish(examiner).findings.map(\.found) == ["look 2"])
    }

    @Test func `however many ask, one look is under way`() throws {
        let examiner = try stage.examiner()
        for _ in 0..<9 { #expect(examiner.findings.isLooking) }
        stage.begun.wait()
        stage.pass(Examiner.keptSeconds + 1)
        #expect(examiner.findings.isLooking && stage.looks.withLock(\.self) == 1)
        _ = stage.finish(examiner)
    }

    @Test func `a look that does not end is said to hang, and no other begins until it has ended`() throws {
        let examiner = try stage.examiner()
        _ = examiner.findings
        stage.begun.wait()
        stage.pass(Int64(Examiner.patienceSeconds) + 1)
        let hanging = examiner.findings
        #expect(!hanging.isLooking && hanging.findings.map(\.verdict) == ["wrong"] && hanging.lookedAt == nil)
        #expect(stage.looks.withLock(\.self) == 1)
        stage.mayEnd.signal()
        while examiner.findings.lookedAt == nil {}
        #expect(examiner.findings.findings.map(\.found) == ["look 1"])
    }

    @Test func `a clock that was set back makes what is kept old`() throws {
        let examiner = try stage.examiner()
        _ = examiner.findings
        _ = stage.finish(examiner)
        stage.pass(-3_600)
        #expect(examiner.findings.isLooking)
        _ = stage.finish(examiner)
    }
}
