// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Testing

/// What callers see of trouble behind the backend, and what is logged.
struct ErrorTests {
    /// What the hub or the store throws must not be told to strangers; it would be if this were in an answer.
    static let reason = "key-of-the-operator"

    /// One error behind the backend, and the answer it becomes.
    struct Row: CustomTestStringConvertible, Sendable {
        let error: any Error & Sendable
        let code: ProblemCode
        var retryAfter: String?
        var field: String?

        init(
            _ error: any Error & Sendable, _ code: ProblemCode, retryAfter: String? = nil, field: String? = nil
        ) {
            self.error = error
            self.code = code
            self.retryAfter = retryAfter
            self.field = field
        }

        var testDescription: String { "\(error) -> \(code)" }

        func check(_ response: Response) throws {
            #expect(response.status == code.status)
            #expect(response.fields[.retryAfter] == retryAfter)
            #expect(response.fields[.contentType] == Problem.contentType)
            #expect(response.fields[.cacheControl] == "no-store")
            let body = try JSONValue(parsing: response.body)
            #expect(body["type"]?.string == "urn:app-backend:problem:\(code.rawValue)")
            #expect(body["status"]?.integer == code.status.code && body["code"]?.string == code.rawValue)
            #expect(body["field"]?.string == field)
            #expect(!String(decoding: response.body, as: UTF8.self).contains(ErrorTests.reason))
        }
    }

    static let storeRows: [Row] = [
        Row(StoreError.busy(retryAfterSeconds: 7), .storeBusy, retryAfter: "7"),
        Row(StoreError.full, .storeUnavailable, retryAfter: "5"),
        Row(StoreError.readOnly, .storeUnavailable, retryAfter: "5"),
        Row(StoreError.poisoned, .storeUnavailable, retryAfter: "5"),
        Row(StoreError.damaged(detail: reason), .storeUnavailable, retryAfter: "5"),
        Row(StoreError.unavailable(detail: reason), .storeUnavailable, retryAfter: "5"),
        Row(StoreError.quotaExceeded, .tooManyEntries, retryAfter: "3600"),
        Row(StoreError.conflict, .storeBusy, retryAfter: "1"),
    ]

    @Test(arguments: storeRows) func `each error of the store has its answer`(row: Row) throws {
        let error = try #require(row.error as? StoreError)
        let log = CollectedLog()
        let site = try TestSite {
            $0.store = TroubledStore(inner: $0.store, error: error)
            $0.logger = log.logger
        }
        try row.check(site.call(.get, "/api/notifications", as: "alice"))
        // A server's trouble is the operator's too; a user's quota is not.
        #expect(log.lines.map(\.request) == (row.code.status.kind == .serverError ? ["test"] : []))
        #expect(log.lines.allSatisfy { $0.level == .warning && $0.text.contains("store: \(error)") })
    }

    /// What the hub answers, or nothing; and what the backend answers then.
    struct HubRow: CustomTestStringConvertible, Sendable {
        let answer: Response?
        let row: Row

        var testDescription: String { row.testDescription }
    }

    static func answer(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> Response {
        let body = "<Error><Code>40103</Code><Detail>\(reason)</Detail></Error>"
        return Response(status: status, fields: fields, body: Array(body.utf8))
    }

    static let hubRows: [HubRow] = [
        HubRow(
            answer: answer(.tooManyRequests, [.retryAfter: "17"]),
            row: Row(HubError.throttled(retryAfterSeconds: 17), .hubThrottled, retryAfter: "17")),
        HubRow(
            answer: answer(.forbidden, [.retryAfter: "30"]),
            row: Row(HubError.throttled(retryAfterSeconds: 30), .hubThrottled, retryAfter: "30")),
        HubRow(answer: nil, row: Row(HubError.unreachable(reason), .hubUnavailable, retryAfter: "5")),
        HubRow(answer: answer(.badRequest), row: Row(HubError.refused(status: 400, code: ""), .hubRefused)),
        HubRow(answer: answer(.unauthorized), row: Row(HubError.unauthorized, .hubRefused)),
        HubRow(answer: answer(.forbidden), row: Row(HubError.unauthorized, .hubRefused)),
        HubRow(
            answer: Response(status: .created), row: Row(HubError.malformedAnswer(reason), .hubRefused)),
        HubRow(answer: answer(.contentTooLarge), row: Row(HubError.payloadTooLarge, .messageTooLarge, field: "body")),
        HubRow(answer: answer(.gone), row: Row(HubError.registrationGone, .registrationGone)),
        HubRow(answer: answer(.notFound), row: Row(HubError.notFound, .hubRefused)),
    ]

    @Test(arguments: hubRows) func `each trouble with the hub has its answer`(row: HubRow) throws {
        let log = CollectedLog()
        let hub = ClosureResponder { _ in
            guard let answer = row.answer else { throw NoAnswer() }
            return answer
        }
        let site = try TestSite(hub: hub) { $0.logger = log.logger }
        try row.row.check(site.call(.post, "/api/register", as: "alice"))
        #expect(log.lines.map(\.request) == (row.row.code.status.kind == .serverError ? ["test"] : []))
        #expect(log.lines.allSatisfy { $0.level == .warning && $0.text.hasPrefix("hub: ") })
    }

    static let builtInHubRows: [Row] = [
        Row(
            HubError.storage(HubStorageError(.full, retryAfterSeconds: 17, cause: reason)), .storeUnavailable,
            retryAfter: "17"),
        Row(HubError.limitReached(reason, retryAfterSeconds: 18), .hubThrottled, retryAfter: "18"),
    ]

    @Test(arguments: builtInHubRows) func `what the built-in hub cannot do has its answer, and its cause is logged`(
        row: Row
    ) throws {
        let log = CollectedLog()
        let error = try #require(row.error as? HubError)
        let site = try TestSite {
            $0.notifications = Notifications(hub: RefusingHub(error: error), platforms: [.apns])
            $0.logger = log.logger
        }
        try row.check(
            site.call(.post, "/api/notifications", query: "pns=apns&to_tag=bob", as: "alice", body: #""Hello""#))
        #expect(log.lines.map(\.request) == ["test"] && log.text.contains(Self.reason))
    }

    @Test func `the transport's own words for a hub that cannot be reached are in the log alone`() throws {
        let log = CollectedLog()
        let site = try TestSite(hub: ClosureResponder { _ in throw NoAnswer() }) { $0.logger = log.logger }
        let response = site.call(.post, "/api/register", as: "alice")
        #expect(log.text.contains(Self.reason))
        #expect(!String(decoding: response.body, as: UTF8.self).contains(Self.reason))
    }

    @Test func `a defect is 500 with the request's id, under which the log has it, and no word of it anywhere`() throws
    {
        let log = CollectedLog()
        let site = try TestSite(authenticator: DefectiveAuthenticator()) { $0.logger = log.logger }
        let request = Request(
            method: .get, path: "/api/register", fields: [.authorization: "Basic YWxpY2U6eA=="],
            id: "4f1c2ab0e77d")
        let response = site.backend.respond(to: request)

        #expect(Problem(response).code == .internalError)
        #expect(response.fields[.contentType] == Problem.contentType)
        #expect(Problem(response).detail.contains("4f1c2ab0e77d"))
        #expect(log.lines.map(\.level) == [.error])
        #expect(log.lines.map(\.request) == ["4f1c2ab0e77d"])
        #expect(!String(decoding: response.body, as: UTF8.self).contains(Self.reason))
        #expect(!log.text.contains(Self.reason))
    }
}

/// No answer came, as a transport says it.
struct NoAnswer: Error, CustomStringConvertible {
    var description: String { ErrorTests.reason }
}

/// A hub of which every call fails alike.
private struct RefusingHub: Hub {
    let error: HubError

    func tracking(_ id: String) -> any Hub { self }
    func createRegistrationID() throws(HubError) -> RegistrationID { throw error }
    func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription? { throw error }
    func registrations(channel: String) throws(HubError) -> [RegistrationDescription] { throw error }
    func createOrUpdate(_ description: RegistrationDescription) throws(HubError) -> RegistrationDescription {
        throw error
    }
    func delete(_ id: RegistrationID) throws(HubError) -> Bool { throw error }
    func send(_ notification: HubNotification, to expression: TagExpression?) throws(HubError) -> SendReceipt {
        throw error
    }
    func details(_ notificationID: String) throws(HubError) -> NotificationDetails? { throw error }
}

private struct DefectiveAuthenticator: PasswordAuthenticator {
    /// An error that no table knows, with a text that no caller may see.
    struct Defect: Error, CustomStringConvertible {
        var description: String { ErrorTests.reason }
    }

    func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal? { throw Defect() }

    func account(of name: UserName) throws -> Account? { throw Defect() }
}
