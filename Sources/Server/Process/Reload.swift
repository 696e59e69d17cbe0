// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Logging
import Store

/// Reads the configuration again while the process runs. A configuration with a fault changes nothing.
struct Reload: Sendable {
    /// nil: where the defaults are.
    let file: String?
    let environment: Environment
    let site: ReloadableSite
    let threshold: LogThreshold
    let logger: Logger

    /// Puts a site of the configuration's present text in the place of the one that answers, or logs why not. Users need
    /// no reload: the store is asked at each request.
    func run() {
        let (wanted, faults) = SiteConfiguration.load(file: file, environment: environment)
        guard faults.allSatisfy({ $0.channel != nil }), let wanted else { return refuse(faults) }
        do {
            // All that may fail comes before the change.
            let users = try site.store.users().count
            Self.warn(of: wanted, logger)
            let waiting = try site.reload(wanted)
            threshold.level = wanted.logLevel
            logger.notice("reloaded the configuration", metadata: ["users": "\(users)"])
            if !waiting.isEmpty {
                logger.warning("reload: a restart is needed for \(waiting.joined(separator: ", "))")
            }
        } catch {
            refuse([error])
        }
    }

    private func refuse(_ errors: [any Error]) {
        for error in errors { logger.error("reload: \(error)") }
        logger.error("reload: the former configuration stays")
        site.noteRefusal(errors.map { "\($0)" }.joined(separator: "; "))
    }

    /// Logs what works and should not stay as it is, and which hub is used.
    static func warn(of configuration: SiteConfiguration, _ logger: Logger) {
        for exposure in configuration.exposures { logger.warning("\(exposure)") }
        for state in configuration.credentialStates {
            let now = Site.now().seconds
            if let trouble = state.fault(now) ?? state.warning(now) { logger.warning("\(trouble)") }
        }
        if configuration.isTest {
            logger.warning("auth.method is test: WHOEVER GIVES A NAME AS PASSWORD IS THAT USER")
        }
        guard configuration.hub.connection == nil else { return }
        do throws(ConfigurationFault) {
            switch try PushService.state(configuration) {
            case .on: logger.notice("no hub.connectionString: the built-in hub is used, and pushes to browsers")
            case .off(let reason):
                logger.notice("no hub.connectionString: the built-in hub is used, for no browsers: \(reason)")
            }
        } catch {
            logger.notice(
                "no hub.connectionString: the built-in hub is used, for no browsers: \(error.key) \(error.reason)")
        }
        let telephones = configuration.apps
        if !telephones.isEmpty { logger.notice("the built-in hub delivers to \(telephones.joined(separator: ", "))") }
    }
}
