// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// What a principal may, of what its user may.
package struct Scope: Equatable, Sendable {
    /// What can be granted alone. The words are those of the API, of the command line and of the store.
    package enum Action: String, CaseIterable, Sendable {
        /// To send, and to ask what became of it.
        case send
        /// The user's messages: to list, read and delete them.
        case read
        /// The user's devices: to register, list and remove them.
        case register
    }

    /// Nil: all, and what only a user may who has logged in.
    package var actions: Set<Action>?
    /// The only users that it may send to; nil: those that its user may send to.
    package var recipients: NamedOwners?

    /// Of who has logged in.
    package static let all = Scope()

    package init(actions: Set<Action>? = nil, recipients: NamedOwners? = nil) {
        (self.actions, self.recipients) = (actions, recipients)
    }

    /// - Parameters:
    ///   - user: the recipient; nil: not one user, or one device of a user.
    ///   - field: where the request names the recipient.
    ///   - name: what a refusal calls the recipient, where there are several; nil: it is the only one.
    /// - Throws: `Problem` 403.
    func check(recipient user: Principal?, field: String, named name: String? = nil) throws(Problem) {
        guard let recipients else { return }
        guard let user, recipients.owners[user.name] != nil else {
            throw Problem(
                .recipientNotAllowed, "This app token may not send to \(name ?? "this recipient").", field: field)
        }
        guard !recipients.isAnother(user.name, user.owner) else {
            throw Problem(
                .tokenNotAllowed, "This app token was made for a former user of that name: make another one.",
                field: field)
        }
    }
}

extension Scope.Action {
    /// What a route needs. The one table of it; a route that is not in it needs a log-in.
    /// - Parameter route: its pattern.
    init?(_ method: HTTPRequest.Method, _ route: String) {
        switch (method.ofRoute, route) {
        case (.post, Path.notifications), (.post, Path.requests), (.get, Path.outcomes + "/{id}"),
            (.get, Path.notifications + "/{id}/timeline"):
            self = .send
        case (.get, Path.notifications), (.get, Path.notifications + "/{id}"), (.delete, Path.notifications + "/{id}"),
            (.get, Path.inbox), (.delete, Path.inbox + "/{id}"), (.post, Path.inbox + "/{id}/read"),
            (.post, Path.notifications + "/{id}/opened"):
            self = .read
        case (.get, Path.register), (.post, Path.register), (.put, Path.register + "/{id}"),
            (.delete, Path.register + "/{id}"), (.put, Path.installations), (.delete, Path.installations + "/{id}"):
            self = .register
        default: return nil
        }
    }
}
