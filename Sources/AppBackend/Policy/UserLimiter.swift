// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// Surrounds the routes behind authentication: of one user no more is carried out than the limits allow, from however many
/// networks it comes. nginx limits networks.
///
/// It comes before `IdempotencyHandler`. So a request that is refused here has claimed no key, and the same one may be
/// made later; and one that is made again counts again, because it costs a look into the store.
struct UserLimiter: UserResponder {
    /// When to ask again while too many bytes are under way: it is not known when they will be done, in seconds.
    static let bytesRetryAfter = 1

    let limits: UserLimits
    let meter: UserMeter
    let inner: any UserResponder

    /// - Throws: `Problem` 429; what the inner responder throws.
    func respond(to request: UserRequest) throws -> Response {
        let owner = request.user.owner
        let kind = Kind(request.http, route: request.route?.pattern)
        let bytes = request.body.count + (kind == .list ? meter.expectedListBytes(of: owner) : 0)
        guard limits.bytesUnderWay > 0, bytes > 0 else { return try pass(request, kind, owner) }
        guard meter.begin(bytes, of: owner, atMost: limits.bytesUnderWay) else {
            throw Problem(
                .tooManyBytes, "Too much of this user's is under way (limits.bytesUnderWay).",
                retryAfter: Self.bytesRetryAfter)
        }
        return try Continuation.after({ try pass(request, kind, owner) }) { [meter] outcome in
            meter.end(bytes, of: owner)
            return try outcome.get()
        }
    }

    private func pass(_ request: UserRequest, _ kind: Kind?, _ owner: String) throws -> Response {
        switch kind {
        case nil: return try inner.respond(to: request)
        case .send:
            if let seconds = meter.take(.sends, of: owner, limits.sends) {
                throw Problem(
                    .tooManySends, "Too many sends by this user (limits.sendsPerMinute).", retryAfter: seconds)
            }
            return try inner.respond(to: request)
        case .registration:
            if let seconds = meter.take(.registrations, of: owner, limits.registrations) {
                throw Problem(
                    .tooManyRegistrations, "Too many registrations by this user (limits.registrationsPerMinute).",
                    retryAfter: seconds)
            }
            return try inner.respond(to: request)
        case .list:
            if let seconds = meter.take(.lists, of: owner, limits.lists) {
                throw Problem(
                    .tooManyLists, "Too many lists for this user (limits.listsPerMinute).", retryAfter: seconds)
            }
            let response = try inner.respond(to: request)
            meter.noteList(response.body.count, of: owner)
            return response
        }
    }

    /// What is limited by its number.
    private enum Kind {
        case send, registration, list

        private static let lists: Set<String?> = [Path.register, Path.notifications, Path.scheduled, Path.inbox]
        private static let registrations: Set<String?> = [
            Path.register, Path.register + "/{id}", Path.installations, Path.installations + "/{id}",
        ]

        /// Nil for all others.
        init?(_ request: Request, route: String?) {
            switch request.method.ofRoute {
            case .get where Self.lists.contains(route): self = .list
            // It reads as much as the list does.
            case .delete where route == Path.scheduled + "/{id}": self = .list
            case .post where route == Path.notifications || route == Path.requests: self = .send
            case .post, .put, .delete:
                guard Self.registrations.contains(route) else { return nil }
                self = .registration
            default: return nil
            }
        }
    }
}
