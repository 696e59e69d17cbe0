// SPDX-License-Identifier: Apache-2.0
import Testing

/// The stories that are told through real servers. One site serves those that leave it running.
@Suite(.enabled(if: Program.nginx != nil, "nginx is not installed; script/packages test installs it"), .sharedSite)
struct WireTests {}

/// Starts one site for a suite and all suites in it, and ends it, and searches its logs, after the last test.
struct SharedSite: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await WireSite.run { site in
            try await WireSite.$shared.withValue(site) { try await function() }
        }
    }
}

extension Trait where Self == SharedSite {
    static var sharedSite: SharedSite { SharedSite() }
}

extension WireSite {
    /// The suite's site.
    @TaskLocal static var shared: WireSite?
}

/// - Throws: when the test is in no suite with a shared site.
func sharedSite() throws -> WireSite {
    try #require(WireSite.shared)
}
