// SPDX-License-Identifier: Apache-2.0

/// Why a hub in this process does not do what it is asked, in all detail; `HubError` says it as a client hears it.
package enum ServableHubError: Error, Equatable, Sendable {
    /// What there can be too many of.
    package enum Limit: Sendable {
        case queuedMessages
        case storedRecords
    }

    /// The request is wrong as it is. The sentence says why, and repeats nothing of the request.
    case invalid(String)
    case noSuchRegistration
    case noSuchMessage
    case noSuchInstallation
    /// The registration is at another version than the caller named.
    case versionMismatch
    /// Others keep changing the same registration.
    case conflict
    /// The text is for the log.
    case limitReached(Limit, cause: String)
    case storage(HubStorageError)

    /// How long a client waits before it comes again when nothing better is known, in seconds.
    package static let retryAfterSeconds = 10
}

extension ServableHubError {
    package static let badTag = ServableHubError.invalid(
        "An invalid tag was supplied. Valid tag characters are alphanumeric, _, @, -, ., : and #. "
            + "Tags can not start with $.")
    package static let tooManyTags = ServableHubError.invalid(
        "Registration Tags serialized size is more than maximum supported value. "
            + "Max Allowed Size: '\(RegistrationDescription.maximumTagsLength)'")
    package static let ofInstallation = ServableHubError.invalid(
        "The registration is one of an installation, and changes only with it.")
    package static let missingTemplate = ServableHubError.invalid("A template registration needs a BodyTemplate.")
}

extension HubError {
    /// As a client of the hub hears it, without the sentences.
    package init(_ error: ServableHubError) {
        switch error {
        case .invalid: self = .refused(status: 400, code: "400")
        case .noSuchRegistration, .noSuchMessage, .noSuchInstallation: self = .notFound
        case .versionMismatch: self = .refused(status: 412, code: "412")
        case .conflict: self = .refused(status: 409, code: "40900")
        case .limitReached(_, let cause):
            self = .limitReached(cause, retryAfterSeconds: ServableHubError.retryAfterSeconds)
        case .storage(let error): self = .storage(error)
        }
    }
}
