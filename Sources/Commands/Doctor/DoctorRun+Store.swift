// SPDX-License-Identifier: Apache-2.0
import Server
import Store
import WebPush

extension DoctorRun {
    /// What can be known of store and push as the owner of the store.
    struct AsOwner {
        /// To open it by.
        let store: StoreLocation
        let push: PushFindings.State
    }

    /// Makes root the store's owner, as which the service runs: what root may read, the service perhaps may not.
    /// - Returns: nil, when the configuration does not say where the store is.
    func becomeOwner() -> AsOwner? {
        guard !isFaulty("store.") else { return nil }
        // The service is that owner already, and must not become another user.
        guard options.running == nil else { return AsOwner(store: configuration.store, push: pushState(configuration)) }
        var asOwner = configuration
        do throws(StoreError) {
            try StoreOwner.dropPrivileges(toOwnerOf: &asOwner, environment)
        } catch {
            // Then this user looks at it; the step says what is wrong with the folder.
        }
        return AsOwner(store: asOwner.store, push: pushState(asOwner))
    }

    private func pushState(_ configuration: SiteConfiguration) -> PushFindings.State {
        do throws(ConfigurationFault) {
            let state = try StoreOwner.asServiceUser(of: configuration, environment) {
                () throws(ConfigurationFault) in try PushService.state(configuration)
            }
            switch state {
            case .on(let key, _, let subject): return .on(publicKey: key.publicKey, subject: "\(subject)")
            case .off(let reason): return .off(reason: reason)
            }
        } catch {
            return .faulty(key: error.key, reason: error.reason)
        }
    }

    func storeFindings(_ owner: AsOwner?) -> [Finding] {
        guard let owner else { return [.skipped("the configuration does not say where it is")] }
        let pushesToBrowsers = if case .on = owner.push { true } else { false }
        let isOn = pushesToBrowsers || !configuration.apps.isEmpty
        let judge = StoreFindings(
            path: configuration.store.description, needsUsers: !configuration.isTest,
            hasIssuers: !configuration.issuers.isEmpty,
            delivery: configuration.hub.connection != nil ? .elsewhere : isOn ? .builtInHub : .nothing, setting: setting
        )
        switch owner.store {
        case .folder(let path):
            let facts = StoreFacts(path: path, configuration, now: Site.now(), running: options.running?.store)
            return judge.findings(facts, serviceSays: service?.store)
        case .database:
            let facts = StoreFacts(configuration, now: Site.now()) { () throws(StoreError) in
                if let running = options.running { return running.store }
                return try Site.openStore(configuration, migrates: false) { _ in }
            }
            return judge.databaseFindings(facts, serviceSays: service?.store)
        }
    }

    func pushFindings(_ owner: AsOwner?) -> [Finding] {
        guard let owner, !isFaulty("webPush.", "hub.") else { return [.skipped("the configuration is not right")] }
        let settings = configuration.webPush
        var unresolved: [String] = []
        // Through a proxy, names are looked up there.
        if case .on = owner.push, settings.proxy == nil {
            unresolved = HostLookup.unresolved(settings.hosts.exampleNames, seconds: options.timeout)
        }
        return PushFindings(state: owner.push, setting: setting).findings(
            running: service?.configuration, unresolved: unresolved)
    }

    /// Whether the push services of telephones accept the credentials, of the running service and of this configuration.
    func channelFindings() -> [Finding] {
        let judge = ChannelFindings(setting: setting)
        return (service?.waiting ?? []).map { judge.finding($0) } + probeFindings(judge)
    }

    private func probeFindings(_ judge: ChannelFindings) -> [Finding] {
        guard !isFaulty("hub.") else { return [] }
        // An administrator's page looks every minute, and Apple wants a new token only every 20 minutes.
        guard options.running == nil else {
            return [.skipped("telephones: `app-backend doctor` shows the credentials to the push services")]
        }
        guard !isFaulty("apns", "fcm", "wns") else { return [.skipped("telephones: the configuration is not right")] }
        do {
            let answers = try CredentialProbe.ask(configuration, timeout: timeout)
            return answers.map { judge.finding($0.channel, $0.result) }
        } catch {
            return [.fail("the push services cannot be asked: \(error)", fix: "`app-backend check`")]
        }
    }
}
