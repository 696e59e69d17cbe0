// SPDX-License-Identifier: Apache-2.0
import Curl
import Doctor
import HTTP
import NotificationHub
import Server

extension Examination {
    /// The four steps that are judged by one conversation with the hub, in the order of their causes.
    mutating func examineHub() {
        guard !isFaulty("hub.") else { return withoutConnection(.skipped("the configuration is not right")) }
        guard let connection = configuration.hub.connection else {
            return withoutConnection(.ok("\(configuration.hub.name), the one in the box"))
        }
        let subject = HubSubject(
            name: configuration.hub.name, host: connection.endpoint, keyName: connection.keyName,
            caFile: configuration.hub.caFile, setting: setting)
        let probe = ConnectionProbe(
            scheme: connection.scheme, authority: connection.endpoint, caFile: configuration.hub.caFile,
            proxy: configuration.hub.proxy, timeout: timeout)
        let reached = connect(probe)
        var answer: HubAnswer?
        if case .success = reached { answer = ask(connection) }
        let clock = ClockStep(differences: differences)
        add(.clock, clock.findings())
        add(.tls, TLSStep(subject).findings(reached, now: Site.now().seconds))
        let isClockWrong = differences.contains(where: \.isTooLarge)
        let key = answer.map { KeyStep(subject, isClockWrong: isClockWrong).findings($0) }
        add(.key, key ?? [.skipped("the hub was not asked")])
        add(.hub, HubStep(subject, platforms: configuration.hub.platformNames).findings(reached, answer))
    }

    private mutating func withoutConnection(_ hub: Finding) {
        add(.clock, ClockStep(differences: differences).findings())
        add(.tls, [.skipped("no hub is called")])
        add(.key, [.skipped("no hub is called")])
        add(.hub, [hub])
    }

    private mutating func ask(_ connection: ConnectionString) -> HubAnswer {
        var options = CurlOptions()
        options.timeout = min(.seconds(configuration.hub.timeout), timeout)
        options.caFile = configuration.hub.caFile
        options.proxy = configuration.hub.proxy
        options.userAgent = "app-backend-doctor/\(Version.text)"
        do throws(TransportError) {
            let transport = try CurlTransport(options)
            defer { transport.close() }
            let now: @Sendable () -> Int64 = { Site.now().seconds }
            let watch = ClockWatch(host: connection.endpoint, inner: transport, now: now)
            let client = NotificationHubClient(
                connection: connection, hub: configuration.hub.name, transport: watch, now: now)
            let answer = HubAnswer(Result { () throws(HubError) in try client.probe() })
            differences += [watch.difference].compactMap(\.self)
            return answer
        } catch {
            return .noAnswer("\(error)")
        }
    }
}
