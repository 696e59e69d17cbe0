// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import JSON
import NotificationHub
import Support

extension WireSite: ServedSite {
    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try Program.run(Program.appBackend, arguments + ["--config", backend.configuration], input: .text(input))
    }
}

extension RegistrationDescription {
    /// Without the tag of its own, which a hub elsewhere is given.
    var tagTexts: [String] { tags.filter { $0.registrationID == nil }.map(\.description) }
}

extension WireSite {
    /// The hub as a program beside the backend sees it: over the network, with the same key.
    func hubClient() throws -> HubClient {
        let text =
            "Endpoint=sb://\(hubAuthority)/;SharedAccessKeyName=\(hubKey.name);SharedAccessKey=\(hubKey.key.reveal())"
        return HubClient(
            connection: try ConnectionString(text), hub: Self.hubName, transport: transport,
            now: { Int64(Date().timeIntervalSince1970) })
    }

    /// What `/health` says.
    func health() throws -> JSONValue {
        try JSONValue(parsing: call(.get, Path.health).body)
    }

    /// How many sends have come to the hub. It is not reached any more then: nginx writes its line when the answer is
    /// gone, and has written all lines when it has ended.
    func sendsAtHub() throws -> Int {
        hubDoor.stop()
        let log = try String(contentsOfFile: "\(hubDoor.folder)/log/app-backend.log", encoding: .utf8)
        return log.split(separator: "\n").count { $0.contains(#""path":"/\#(Self.hubName)/messages"#) }
    }

    /// Waits until so many workers of the backend carry a request, not counting the one that answers.
    func awaitBusyWorkers(_ count: Int) throws -> Bool {
        try Deadline.poll(seconds: 60) {
            (try health()["workers"]?["busy"]?.integer ?? 0) > count
        }
    }
}
