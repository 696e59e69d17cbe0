// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@testable import AppBackend
@testable import BuiltInHub
@testable import Commands
@testable import FileStore
@testable import JWT
@testable import PostgresStore
@testable import Push

@Suite struct BackoffTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let backoff: Backoff
        let pauses: [Duration]

        init(_ place: String, _ backoff: Backoff, milliseconds: [Double]) {
            (testDescription, self.backoff) = (place, backoff)
            pauses = milliseconds.map { .microseconds(Int64($0 * 1_000)) }
        }

        init(_ place: String, _ backoff: Backoff, _ seconds: [Int64]) {
            (testDescription, self.backoff, pauses) = (place, backoff, seconds.map { .seconds($0) })
        }
    }

    @Test(arguments: [
        Row("logins of one name", AccountGuard.delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]),
        Row("logins of one site", AccountGuard.siteDelays, [1, 2, 4, 8]),
        Row("clean-up of a user", UserUpkeep.backoff, [10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600]),
        Row("webhook", WebhookSession.backoff, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]),
        Row("delivery status for a webhook", WebhookSession.looks, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]),
        Row("push", DeliverySession.backoff, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]),
        Row("device", DeviceThrottle.backoff, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]),
        Row("push service", ServiceThrottle.backoff, [1, 2, 4, 8, 16, 32, 60]),
        Row("refused credential", CredentialHold.backoff, [60, 120, 240, 480, 900]),
        Row("access token", BearerSender.backoff, [1, 2, 4, 8, 16, 32, 60]),
        Row("keys of an issuer", IssuerKeys.backoff, [1, 2, 4, 8, 16, 32, 60]),
        Row("PostgreSQL server", Reachability.backoff, milliseconds: [100, 200, 400, 800, 1_600, 2_000]),
        Row("statement", Database.backoff, milliseconds: [2, 4, 8, 16, 32, 64, 128]),
        Row(
            "lock of a file", BucketLocks.backoff, milliseconds: [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2]),
        Row("reload", ReloadCommand.backoff, milliseconds: [10, 20, 40, 80, 160, 320, 500]),
        Row("send --wait", OperatorSite.backoff, milliseconds: [50, 100, 200, 400, 800, 1_000]),
    ]) func `each place that tries again waits so long after each failure`(_ row: Row) {
        #expect(row.backoff.pauses == row.pauses)
    }
}
