// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import FileStore
import HTTP
import HTTPTypes
import HubServer
import NotificationHub
import Store
import Support
import Text

/// A hub with three keys, on a store in memory, and short words for talking to it.
struct HubBench {
    static let now: Int64 = 1_541_549_917  // 2018-11-07T00:18:37Z
    static let host = "hub.example"

    let store: any HubStore
    let builtIn: BuiltInHub
    /// Its REST face.
    let hub: HubServer

    /// - Parameter isServed: whether the REST face has the namespace of its own that a site gives it; else it shows the backend's.
    init(
        store: any HubStore = MemoryHubStore(), worker: DeliveryWorker? = nil, isServed: Bool = false,
        options: HubServer.Options = HubServer.Options(),
        onUnreadable: @escaping @Sendable (StoreError) -> Void = { _ in },
        now: @escaping @Sendable () -> Int64 = { Self.now },
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (String, String) -> Void = { _, _ in },
        onRefused: @escaping @Sendable (String, String) -> Void = { _, _ in }
    ) {
        self.store = store
        builtIn = BuiltInHub(
            store: store, worker: worker, isShared: options.isShared, now: now, onUnreadable: onUnreadable)
        hub = HubServer(
            isServed ? builtIn.served : builtIn, name: "MyHub",
            keys: [
                SharedAccessKey(name: "listen", key: Secret("listen-key"), rights: .listen),
                SharedAccessKey(name: "send", key: Secret("send-key"), rights: .send),
                SharedAccessKey(name: "full", key: Secret("full-key"), rights: .full),
            ], hosts: [Self.host], options: options, now: now, report: report, onRefused: onRefused, clock: clock)
    }

    /// A client without a network between.
    func client(key: String = "full-key") throws -> HubClient {
        HubClient(
            connection: try ConnectionString(
                "Endpoint=sb://\(Self.host)/;SharedAccessKeyName=full;SharedAccessKey=\(key)"),
            hub: "MyHub", transport: hub, now: { Self.now })
    }

    static func token(
        _ key: String = "full", secret: String? = nil, resource: String = "https://hub.example/myhub",
        expiry: Int64 = HubBench.now + 60
    ) -> String {
        SharedAccessSignature.make(
            resource: resource,
            key: SharedAccessKey(name: key, key: Secret(secret ?? "\(key)-key"), rights: .full), expiry: expiry)
    }

    @discardableResult
    func ask(
        _ method: HTTPRequest.Method, _ path: String, query: String = "api-version=2020-06", key: String = "full",
        token: String? = nil, fields: [String: String] = [:], body: String = ""
    ) -> Response {
        var request = Request(
            method: method, authority: "\(Self.host):8443", path: path, query: query, body: Array(body.utf8))
        request.fields[.authorization] = token ?? Self.token(key)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.fields[name] = value }
        }
        return hub.respond(to: request)
    }

    @discardableResult
    func put(_ id: String, _ body: String, ifMatch: String? = nil) -> Response {
        ask(
            .put, "/myhub/registrations/\(id)", fields: ifMatch.map { ["If-Match": $0] } ?? [:], body: Self.entry(body))
    }

    @discardableResult
    func send(
        _ format: String, tags: String? = nil, query: String = "api-version=2020-06", key: String = "full",
        body: String = "{}", fields: [String: String] = [:]
    ) -> Response {
        var fields = fields
        fields["ServiceBusNotification-Format"] = format
        fields["ServiceBusNotification-Tags"] = tags
        return ask(.post, "/myhub/messages", query: query, key: key, fields: fields, body: body)
    }

    func details(_ id: String) throws -> NotificationDetails {
        try NotificationDetails(decoding: ask(.get, "/myhub/messages/\(id)").body)
    }

    static func entry(_ description: String) -> String {
        "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">\(description)</content></entry>"
    }

    static let namespaces =
        "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
        + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\""

    static func apple(_ token: String, tags: String = "") -> String {
        "<AppleRegistrationDescription \(namespaces)>\(tags.isEmpty ? "" : "<Tags>\(tags)</Tags>")"
            + "<DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    static func android(_ token: String, tags: String = "", element: String = "FcmV1") -> String {
        "<\(element)RegistrationDescription \(namespaces)><Tags>\(tags)</Tags>"
            + "<\(element)RegistrationId>\(token)</\(element)RegistrationId></\(element)RegistrationDescription>"
    }

    static func windows(_ uri: String, tags: String = "") -> String {
        "<WindowsRegistrationDescription \(namespaces)><Tags>\(tags)</Tags>"
            + "<ChannelUri>\(uri)</ChannelUri></WindowsRegistrationDescription>"
    }

    static func appleTemplate(_ token: String, tags: String = "") -> String {
        "<AppleTemplateRegistrationDescription \(namespaces)><Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken>"
            + "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(m)\"}}]]></BodyTemplate><TemplateName>t</TemplateName>"
            + "</AppleTemplateRegistrationDescription>"
    }
}

extension FileSiteStore.Options {
    /// On a busy machine any process may stand still for seconds, also while it has a lock that others wait for.
    static var patient: Self {
        var options = Self()
        options.lockTimeout = .seconds(120)
        // The tests that kill flush in the process that they kill.
        options.calls = DiskCalls(flushFile: { _ in 0 }, flushFolder: { _ in 0 })
        return options
    }
}

extension BuiltInHub {
    /// What became of a message, for the operator.
    func message(_ id: String) throws -> NotificationDetails { try message(id, asManager: true) }
}

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The ids of the registrations in a feed, in its order.
    func ids() throws -> [String] {
        try AtomFeed(decoding: body).entries.compactMap(\.registration.id?.description)
    }

    /// What follows the last `/` of `Location`.
    var createdID: String {
        let path = (fields[.location] ?? "").prefix { $0 != "?" }
        return path.split(separator: "/").last.map(String.init) ?? ""
    }
}
