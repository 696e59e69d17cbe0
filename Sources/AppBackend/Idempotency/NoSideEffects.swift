// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import Store

/// Thrown in place of an answer that says more than a `Problem`, by a route that is certain that the request has changed
/// nothing, neither in the store nor at the hub: repeating it cannot do anything twice.
struct NoSideEffects: Error {
    let response: Response

    /// Whether an error that a route has thrown says so. Routes throw before they act; what they cannot know is whether a
    /// write has reached a disk that failed, or another machine that did not answer.
    static func isRetrySafe(_ error: any Error) -> Bool {
        switch error {
        case is NoSideEffects, is RoutingError, is Query.Malformed: true
        case let problem as Problem: problem.status != .internalServerError
        case let error as StoreError:
            switch error {
            case .conflict, .quotaExceeded, .shareExceeded, .invalidContinuationToken, .full, .readOnly, .busy,
                .damaged, .notReady:
                true
            case .poisoned, .unavailable: false
            }
        default: false
        }
    }
}
