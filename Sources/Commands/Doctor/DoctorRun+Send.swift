// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Server
import Store

extension DoctorRun {
    /// Sends a notification to the devices of a user, and looks at what each of them got.
    func sendFindings(_ owner: AsOwner?, to name: String) -> [Finding] {
        guard let owner, faults.isEmpty else { return [.skipped("the configuration is not right")] }
        var configuration = configuration
        configuration.store = owner.store
        let judge = SendFindings(name: name, seconds: Int(options.timeout))
        do {
            let store = try Site.openStore(configuration, migrates: false) { _ in }
            let user = try UserCommand.existing(name, in: store, or: configuration)
            guard try store.devices(owner: user.owner).contains(where: { !$0.isUnused }) else {
                return [judge.noDevice]
            }
            let logger = StderrLogHandler.logger(LogThreshold(.critical))
            let site = try OperatorSite(configuration, store: store, logger: logger, from: SendCommand.operatorName)
            defer { site.close() }
            let message = PushMessage(
                to: .one(user.name), title: nil, body: "A test by the operator.", isSecure: false,
                platforms: configuration.hub.platforms.map(\.rawValue))
            var refusal = ""
            guard var report = site.send(message, refused: { refusal = $0 }) else {
                return [.fail("the notification was not taken: \(refusal)", fix: "`journalctl -u app-backend`")]
            }
            let fault = site.wait(for: &report, seconds: judge.seconds)
            let unknown = fault.map { [Finding.warning("the hub cannot be asked: \($0)", fix: "the line `hub`")] } ?? []
            return judge.findings(report, targets(report, at: site)) + unknown
        } catch {
            return [.fail("\(error)", fix: "`app-backend user list`; the line `store`")]
        }
    }

    /// The devices, or where the hub names none, the platforms.
    private func targets(_ report: SendReport, at site: OperatorSite) -> [SendFindings.Target] {
        report.lines.flatMap { line in
            let details = line.notificationID.flatMap { try? site.site.details(of: $0) }
            let devices = (details?.devices ?? []).map {
                SendFindings.Target(platform: line.platform, id: $0.registrationID, outcome: $0.name)
            }
            guard devices.isEmpty else { return devices }
            return line.counts.filter { $0.devices > 0 }.map {
                SendFindings.Target(platform: line.platform, id: nil, outcome: $0.name)
            }
        }
    }
}
