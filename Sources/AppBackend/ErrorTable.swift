// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// The one table from errors to statuses.
extension Problem {
    /// `Retry-After` when nothing better is known, in seconds.
    static let defaultRetryAfter = 5
    /// Entries expire by the day; sooner than this nothing will have changed, in seconds.
    static let quotaRetryAfter = 3600

    /// - Returns: nil for an error that no part of the program is known to throw: a defect.
    init?(error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as RoutingError: self.init(error)
        case let error as Query.Malformed: self.init(error)
        case let error as StoreError: self.init(error)
        case let error as HubError: self.init(error)
        case let error as AdministrationError: self.init(error)
        case is RegistrationForgotten: self.init(HubError.registrationGone)
        default: return nil
        }
    }

    init(_ error: RoutingError) {
        switch error {
        case .notFound: self.init(.notFound, "There is nothing at this path.")
        case .methodNotAllowed(let methods):
            self.init(.methodNotAllowed, "This path does not have that method.", allow: methods)
        }
    }

    init(_ error: Query.Malformed) {
        switch error {
        case .badEncoding(let name):
            self.init(.invalidValue, "The query is not percent-encoded UTF-8.", field: name.isEmpty ? "query" : name)
        case .tooManyItems:
            self.init(.invalidValue, "The query has more than \(Query.maximumItems) items.", field: "query")
        }
    }

    /// 507 would name the disk's state to strangers and no client knows it; a full disk is a store that cannot be
    /// written.
    init(_ error: StoreError) {
        switch error {
        case .busy(let seconds):
            self.init(.storeBusy, "The store is busy.", retryAfter: seconds)
        // The share's own sentence is said where a message is kept (`NotificationsController.keepSecure`).
        case .quotaExceeded, .shareExceeded:
            self.init(
                .tooManyEntries, "This user has as many entries as one user may have.",
                retryAfter: Self.quotaRetryAfter)
        case .conflict:
            self.init(.storeBusy, "Another request is changing the same entry.", retryAfter: 1)
        case .invalidContinuationToken, .full, .readOnly, .poisoned, .damaged, .notReady, .unavailable:
            self.init(.storeUnavailable, "The store cannot be used.", retryAfter: Self.defaultRetryAfter)
        }
    }

    init(_ error: HubError) {
        switch error {
        case .registrationGone:
            self.init(.registrationGone, "The hub no longer knows this registration id: ask for a new one.")
        case .notFound: self.init(.hubRefused, "The hub does not know what was asked for.")
        case .payloadTooLarge:
            self.init(.messageTooLarge, "The message is longer than the platform allows.", field: "body")
        case .throttled(let seconds), .limitReached(_, let seconds):
            self.init(.hubThrottled, "The hub asks to slow down.", retryAfter: seconds)
        case .unavailable(let seconds, _):
            self.init(.hubUnavailable, "The hub is not available at present.", retryAfter: seconds)
        case .storage(let error) where error.reason == .busy:
            self.init(.storeBusy, "The store is busy.", retryAfter: error.retryAfterSeconds)
        case .storage(let error):
            self.init(.storeUnavailable, "The store cannot be used.", retryAfter: error.retryAfterSeconds)
        case .unreachable:
            self.init(.hubUnavailable, "The hub cannot be reached.", retryAfter: Self.defaultRetryAfter)
        // The hub's reasons are the operator's affair (a wrong key, above all); the log has them.
        case .refused, .unauthorized, .malformedAnswer: self.init(.hubRefused, "The hub refused.")
        }
    }
}
