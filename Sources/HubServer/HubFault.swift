// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub

/// Why the hub answers anything but success: a status, a sentence for people, and sometimes a field.
struct HubFault: Error {
    let status: HTTPResponse.Status
    let message: String
    var fields = HTTPFields()
    /// What the operator must know and clients must not; nil where the client alone is at fault.
    private(set) var cause: String?
    /// Why the request's signature is refused, which the operator may have to tell a client; nil: it is not.
    private(set) var refusal: SignatureError?

    init(_ status: HTTPResponse.Status, _ message: String = "") {
        self.status = status
        self.message = message
    }

    /// A missing token and a wrong one have this in common: the caller learns no more (the texts of Azure's other 401
    /// answers were never seen).
    private static let unauthorized = HubFault(.unauthorized, "InvalidSignature: The token has an invalid signature.")
    private static let expired = HubFault(.unauthorized, "ExpiredToken: The token is expired.")

    static func unauthorized(_ reason: SignatureError) -> HubFault {
        var fault = reason == .expired ? expired : unauthorized
        fault.refusal = reason
        return fault
    }

    static let reservedTag = HubFault(
        .badRequest,
        "A tag begins with \(Tag.reservedPrefixes.joined(separator: ", ")): this hub is shared with a backend, which alone gives such tags."
    )

    static func tooManyRegistrations(retryAfterSeconds: Int) -> HubFault {
        HubFault(
            .tooManyRequests, "Too many registrations by this policy.", cause: nil,
            retryAfterSeconds: retryAfterSeconds)
    }

    /// As the older generation of Azure's servers says it; the newer one answers an empty 403.
    static func missing(_ right: String) -> HubFault {
        HubFault(.unauthorized, "\(right) claim is required for this operation.")
    }

    static let noSuchHub = HubFault(.notFound, "No service is hosted at the specified address.")

    /// - Parameter maximum: in bytes.
    static func tooLarge(_ maximum: Int) -> HubFault {
        HubFault(.contentTooLarge, "The request's body is larger than \(maximum / 1024) KB.")
    }

    static let versionMismatch = HubFault(.preconditionFailed, "The ETag header is missing, invalid or out of date.")

    static func bad(_ message: String) -> HubFault { HubFault(.badRequest, message) }
}

extension HubFault {
    /// The one table from what may go wrong below to what is answered; what it does not know is a defect of ours.
    init(mapping error: any Error) {
        switch error {
        case let fault as HubFault: self = fault
        case let error as RoutingError: self.init(routing: error)
        case let error as ServableHubError: self.init(hub: error)
        case let error as AtomError: self.init(atom: error)
        case let error as TagExpressionError: self = .bad("The tag expression is invalid: \(error).")
        default:
            self.init(.internalServerError, "The server encountered an error")
            // The type alone: a description could hold what the request held.
            cause = "defect: \(type(of: error))"
        }
    }

    private init(routing error: RoutingError) {
        switch error {
        case .notFound: self.init(.notFound, "The resource is not known here.")
        case .methodNotAllowed(let methods):
            self.init(.methodNotAllowed, "The specified HTTP verb is not valid.")
            fields[.allow] = methods.map(\.rawValue).joined(separator: ", ")
        }
    }

    private init(hub error: ServableHubError) {
        switch error {
        case .invalid(let message): self = .bad(message)
        // Azure's 404 for a registration has no message.
        case .noSuchRegistration: self.init(.notFound)
        case .noSuchMessage: self.init(.notFound, "The notification is not known here.")
        case .noSuchInstallation: self.init(.notFound, "Installation not found")
        case .versionMismatch: self = .versionMismatch
        case .conflict: self.init(.conflict, "SubCode=40900. Conflict.")
        case .limitReached(.queuedMessages, let cause):
            self.init(.tooManyRequests, "The hub has too many messages to deliver.", cause: cause)
        // In Azure's language an exhausted quota is 403 with Retry-After; without that it is a missing right.
        case .limitReached(.storedRecords, let cause): self.init(.forbidden, "The quota is exceeded.", cause: cause)
        case .storage(let error):
            self.init(
                .serviceUnavailable, Self.message(error.reason), cause: error.description,
                retryAfterSeconds: error.retryAfterSeconds)
        }
    }

    private static func message(_ reason: HubStorageError.Reason) -> String {
        switch reason {
        case .busy: "SubCode=\(HubError.nothingDoneCode). The hub is busy."
        case .full: "SubCode=\(HubError.nothingDoneCode). The hub's storage cannot be written."
        case .unavailable: "The hub's storage is not available."
        }
    }

    private init(
        _ status: HTTPResponse.Status, _ message: String, cause: String?,
        retryAfterSeconds: Int = ServableHubError.retryAfterSeconds
    ) {
        self.init(status, message)
        self.cause = cause
        fields[.retryAfter] = String(retryAfterSeconds)
    }

    private init(atom error: AtomError) {
        switch error {
        case .notXML: self = .bad("The request's body is not well-formed XML.")
        case .unexpectedElement, .repeatedElement, .badNumber:
            self = .bad("The request's body is not an entry with one registration description.")
        case .unknownType: self = .bad("The type of the registration description is not known.")
        case .badRegistrationID: self = .bad("The registration id is invalid.")
        case .badHandle(let reason): self = .bad("The channel is invalid: \(reason).")
        case .badTag: self.init(hub: .badTag)
        case .tooManyTags: self.init(hub: .tooManyTags)
        case .missingTemplate: self.init(hub: .missingTemplate)
        case .badHeader: self = .bad("A header of the template has no name or no value.")
        case .expirationGiven: self = .bad("Cannot specify ExpirationTime.")
        }
    }
}
