// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import HTTP
import HTTPTypes
import JSON
import Store
package import Text

/// `GET /health`: whether requests can be served, for a monitor on this host; `LoopbackOnly` surrounds it.
package struct HealthController: Responder {
    /// How busy the server is.
    package struct Load: Sendable {
        package var workersBusy: Int
        /// 0 where no server is counting, as in a test within one process.
        package var workers: Int

        package init(workersBusy: Int = 0, workers: Int = 0) {
            self.workersBusy = workersBusy
            self.workers = workers
        }

        /// The worker that answers is busy itself, so all of them being busy is what a monitor sees at the limit.
        var isExhausted: Bool { workers > 1 && workersBusy >= workers }
    }

    /// A way to devices whose messages wait for something that an operator may have to correct.
    package struct WaitingChannel: Sendable {
        package enum Cause: String, Sendable {
            /// The push service refuses the credential.
            case credential
            /// There is no access token.
            case token
            /// The push service is not trusted.
            case connection
            /// Nothing waits: the service calls device after device another app's.
            case app
        }

        package let name: String
        package let cause: Cause
        package let since: Timestamp
        /// For the operator; never a secret.
        package let reason: String

        package init(name: String, cause: Cause, since: Timestamp, reason: String) {
            (self.name, self.cause, self.since, self.reason) = (name, cause, since, reason)
        }
    }

    /// What the process has made of its reloads.
    package struct Reload: Sendable {
        /// Reloads since the start.
        package let count: Int
        /// Why the last one was refused, for the operator; never a secret. Nil: it was not.
        package let refusal: String?

        package init(count: Int = 0, refusal: String? = nil) {
            (self.count, self.refusal) = (count, refusal)
        }
    }

    let store: any StateStore
    /// Of the program, so that one can see which one answers.
    let version: String
    let load: @Sendable () -> Load
    let waiting: @Sendable () -> [WaitingChannel]
    let reload: @Sendable () -> Reload

    /// 200 `{"status":"ok",…}`; 503 when the store cannot be written or no worker is left.
    package func respond(to request: Request) -> Response {
        let load = load()
        let storeHealth = store.health()
        let isWell = storeHealth == .writable && !load.isExhausted
        let json = JSONWriter.object { json in
            json.member("status", isWell ? "ok" : "unavailable")
            json.member("version", version)
            json.member("store", "\(storeHealth)")
            json.member("workers") { json in
                json.member("busy", load.workersBusy)
                json.member("total", load.workers)
            }
            // Not a matter of the status: a restart corrects no credential.
            json.member("waiting", waiting()) { channel, json in
                json.member("channel", channel.name)
                json.member("cause", channel.cause.rawValue)
                json.member("since", channel.since.text)
                json.member("reason", channel.reason)
            }
            // Nor is this: the former configuration works.
            let reload = reload()
            json.member("reload") { json in
                json.member("count", reload.count)
                if let refusal = reload.refusal { json.member("refused", refusal) }
            }
        }
        var response = Response.json(json.bytes, status: isWell ? .ok : .serviceUnavailable)
        if !isWell { response.fields[.retryAfter] = String(Problem.defaultRetryAfter) }
        return response
    }
}
