// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
package import Text

/// What a look at the site has found wrong with it, for `GET /api/admin/findings`.
package struct SiteFindings: Equatable, Sendable {
    /// One thing that was found, in a line, and what to change about it. Never a password, key, token or handle.
    package struct Finding: Equatable, Sendable {
        /// The part of the site: `store`.
        package let step: String
        /// `ok`, `skipped`, `warning` or `wrong`.
        package let verdict: String
        package let found: String
        /// Nil where there is nothing to do.
        package let fix: String?

        package init(step: String, verdict: String, found: String, fix: String? = nil) {
            (self.step, self.verdict, self.found, self.fix) = (step, verdict, found, fix)
        }
    }

    /// When the look ended that has found this; nil: there was none yet.
    package var lookedAt: Timestamp?
    /// Whether a newer look is under way.
    package var isLooking: Bool
    package var findings: [Finding]

    package init(lookedAt: Timestamp? = nil, isLooking: Bool = false, findings: [Finding] = []) {
        (self.lookedAt, self.isLooking, self.findings) = (lookedAt, isLooking, findings)
    }

    var json: JSONWriter {
        JSONWriter.object { json in
            if let lookedAt { json.member("LookedAt", lookedAt.text) }
            json.member("Looking", isLooking)
            json.member("Findings", findings) { finding, json in
                json.member("Step", finding.step)
                json.member("Verdict", finding.verdict)
                json.member("Found", finding.found)
                if let fix = finding.fix { json.member("Fix", fix) }
            }
        }
    }
}
