// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// Why the hub answers anything but success: a status, a sentence for people, and sometimes a field.
struct HubRefusal: Error {
    let status: HTTPResponse.Status
    let message: String
    var fields = HTTPFields()
    /// What the operator must know and clients must not; nil where the client alone is at fault.
    private(set) var cause: String?

    init(_ status: HTTPResponse.Status, _ message: String = "") {
        self.status = status
        self.message = message
    }

    /// What a missing token, a wrong one and an expired one have in common: the caller learns no more (the texts of
    /// Azure's other 401 answers were never seen).
    static let unauthorized = HubRefusal(.unauthorized, "InvalidSignature: The token has an invalid signature.")

    /// As the older generation of Azure's servers says it; the newer one answers an empty 403.
    static func missing(_ right: String) -> HubRefusal {
        HubRefusal(.unauthorized, "\(right) claim is required for this operation.")
    }

    static let noSuchHub = HubRefusal(.notFound, "No service is hosted at the specified address.")

    /// Azure's 404 for a registration has no message.
    static let noSuchRegistration = HubRefusal(.notFound)

    static let etagMismatch = HubRefusal(.preconditionFailed, "The ETag header is missing, invalid or out of date.")

    static func bad(_ message: String) -> HubRefusal { HubRefusal(.badRequest, message) }
}

extension HubRefusal {
    /// The one table from what may go wrong below to what is answered; what it does not know is a defect of ours.
    init(mapping error: any Error) {
        switch error {
        case let refusal as HubRefusal: self = refusal
        case let error as RoutingError: self.init(routing: error)
        case let error as StoreError: self.init(store: error)
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

    /// As much waits to be delivered as may.
    static var queueIsFull: HubRefusal {
        var refusal = HubRefusal(.tooManyRequests, "The hub has too many messages to deliver.")
        refusal.cause = "the queue is full: as many messages wait to be delivered as may"
        refusal.fields[.retryAfter] = String(retryAfterSeconds)
        return refusal
    }

    /// How long a client waits before it comes again when the store cannot write, in seconds.
    static let retryAfterSeconds = 10

    private init(store error: StoreError) {
        switch error {
        case .conflict: self.init(.conflict, "SubCode=40900. Conflict.")
        case .notAPage: self.init(.badRequest, "The continuation token is invalid.")
        // In Azure's language an exhausted quota is 403 with Retry-After; without that it is a missing right.
        case .quotaExceeded, .shareExceeded: self.init(.forbidden, "The quota is exceeded.", cause: error)
        case .busy(let seconds):
            self.init(.serviceUnavailable, "SubCode=\(HubError.nothingDoneCode). The hub is busy.", cause: error)
            fields[.retryAfter] = String(max(seconds, 1))
        case .full, .readOnly:
            self.init(
                .serviceUnavailable, "SubCode=\(HubError.nothingDoneCode). The hub's storage cannot be written.",
                cause: error)
        case .poisoned, .damaged, .notReady, .unavailable:
            self.init(.serviceUnavailable, "The hub's storage is not available.", cause: error)
        }
    }

    private init(_ status: HTTPResponse.Status, _ message: String, cause: StoreError) {
        self.init(status, message)
        self.cause = "\(cause)"
        fields[.retryAfter] = String(Self.retryAfterSeconds)
    }

    private init(atom error: AtomError) {
        switch error {
        case .notXML: self = .bad("The request's body is not well-formed XML.")
        case .unexpectedElement, .repeatedElement, .badNumber:
            self = .bad("The request's body is not an entry with one registration description.")
        case .unknownType: self = .bad("The type of the registration description is not known.")
        case .badRegistrationID: self = .bad("The registration id is invalid.")
        case .badHandle(let reason): self = .bad("The channel is invalid: \(reason).")
        case .badTag:
            self = .bad(
                "An invalid tag was supplied. Valid tag characters are alphanumeric, _, @, -, ., : and #. "
                    + "Tags can not start with $.")
        case .tooManyTags:
            self = .bad(
                "Registration Tags serialized size is more than maximum supported value. "
                    + "Max Allowed Size: '\(RegistrationDescription.maximumTagsLength)'")
        case .missingTemplate: self = .bad("A template registration needs a BodyTemplate.")
        case .badHeader: self = .bad("A header of the template has no name or no value.")
        case .expirationGiven: self = .bad("Cannot specify ExpirationTime.")
        }
    }
}
