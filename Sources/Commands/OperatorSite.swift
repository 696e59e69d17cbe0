// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import Logging
import NotificationHub
import Server
import Store
import System
import Text

/// A site beside the running service, at which the operator sends: without a password, and not bound by what users may do.
struct OperatorSite {
    let site: Site
    private let store: any SiteStore

    /// To be closed.
    /// - Parameters:
    ///   - name: the sender, as the recipient reads it.
    ///   - sendAt: as of `Site.init`.
    /// - Throws: `StoreError`, and as `Site.init`.
    init(
        _ configuration: SiteConfiguration, store: any SiteStore, logger: Logger, from name: String,
        sendAt: Timestamp? = nil
    ) throws {
        self.store = store
        var configuration = configuration
        // The operator's authenticator is in their place: no key of an issuer is to be fetched, no header trusted.
        configuration.authenticationMethods = [.password]
        // What users may do binds no operator.
        configuration.policy.defaultSendTo = ["*", TagPolicy.tagPrefix + "*", TagPolicy.rolePrefix + "*"]
        configuration.policy.roles.append(Operator.role)
        // But a sender of whom no plain text may leave is none of its either.
        if let sender = UserName(name), try store.user(sender.description)?.isSecureOnly == true {
            configuration.policy.isSecureOnly = true
        }
        site = try Site(
            configuration, store: store, logger: logger, authenticator: Operator(name: name), sendAt: sendAt)
    }

    func close() { site.close() }

    /// Makes the same request that an app would make: there is one way to send.
    /// - Parameter refused: hears why the message, or a part of it, was not taken.
    /// - Returns: nil: it was not taken.
    func send(_ message: PushMessage, refused: (String) -> Void) -> SendReport? {
        let response = site.backend.respond(
            to: Request(
                method: .post, path: Path.notifications, query: "",
                // Any credentials: the operator's shell is the proof.
                fields: [.authorization: "Basic eDp4", .contentType: "application/json"], body: message.json,
                id: "send"))
        if response.status != .ok { refused(Problem(response).detail) }
        if response.status == .serviceUnavailable, let trouble = store.health().trouble { refused("store: \(trouble)") }
        var report = SendReport()
        // What was refused before it came to the hub has no outcomes.
        if let outcome = try? SendOutcome(response) { report.add(outcome) }
        return report.lines.isEmpty ? nil : report
    }

    /// Between two questions.
    static let backoff = Backoff(doubling: .milliseconds(50), to: .milliseconds(1000))

    /// Waits until all of it is known. A hub that does not answer still has the message. Below its Standard tier Azure does not
    /// tell at all.
    /// - Returns: what the hub could not be asked for last; nil: it answers.
    func wait(for report: inout SendReport, seconds: Int) -> HubError? {
        let end = ContinuousClock.now + .seconds(seconds)
        var questions = 0
        while true {
            let fault = update(&report)
            guard !report.isFinal, fault != .unauthorized, ContinuousClock.now < end else { return fault }
            Semaphore.sleep(Self.backoff.pause(after: questions))
            questions += 1
        }
    }

    private func update(_ report: inout SendReport) -> HubError? {
        do throws(HubError) {
            try report.update { (id) throws(HubError) in try site.details(of: id) }
            return nil
        } catch {
            return error
        }
    }
}

/// A user who may run this command may read the store; asking for a password would protect nothing.
private struct Operator: PasswordAuthenticator {
    /// No role of the configuration has a blank in its name.
    static let role = Role(name: "the operator", mayBroadcast: true)

    let name: String

    func authenticate(_ credentials: BasicCredentials, of request: Request) -> Principal? {
        guard let name = UserName(name)?.description else { return nil }
        var principal = Principal(name: name, owner: name)
        principal.tokenRoles = [Self.role.name]
        return principal
    }

    /// A command has no sessions.
    func account(of name: UserName) -> Account? { nil }
}
