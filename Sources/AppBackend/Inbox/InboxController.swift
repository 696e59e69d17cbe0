// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store
import Text

/// What was sent to the caller. Each route has a file of its own.
struct InboxController: Sendable {
    let store: any StateStore
    let changes: InboxChanges
    let now: @Sendable () -> Timestamp

    var routes: [Route<UserAction>] {
        [
            Route(.get, Path.inbox) { request, _ in try list(request) },
            Route(.delete, Path.inbox + "/{id}") { request, parameters in try delete(request, parameters["id"]) },
            Route(.post, Path.inbox + "/{id}/read") { request, parameters in
                try markAsRead(request, parameters["id"])
            },
        ]
    }

    static let noSuchMessage = Problem(.noSuchMessage, "You have no such message.")
}
