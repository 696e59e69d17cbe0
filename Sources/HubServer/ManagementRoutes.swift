// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import XML

/// The hub as a thing of its own: it is read, and nothing of it is changed here.
struct ManagementRoutes: Sendable {
    /// The hub's name.
    let name: String

    /// Azure's time to live of registrations that never expire.
    private static let never = "P10675199DT2H48M5.4775807S"

    var routes: [HubRoute] {
        var reads = [
            HubRoute(.get, "/{hub}", needs: .manage) { read($0, $1["hub"]) },
            HubRoute(.get, "/$Resources/NotificationHubs", needs: .manage) { call, _ in list(call) },
        ]
        for index in reads.indices { reads[index].isInHub = false }
        return reads
            + Self.refusals.map { method, pattern, fault in
                HubRoute(method, pattern, needs: .manage) { _, _ in throw fault }
            }
    }

    private static let refusals: [(HTTPRequest.Method, String, HubFault)] = [
        (.put, "/{hub}", .fixedHub), (.delete, "/{hub}", .fixedHub),
        (.get, "/{hub}/jobs", .noJobs), (.post, "/{hub}/jobs", .noJobs), (.get, "/{hub}/jobs/{id}", .noJobs),
        (.get, "/{hub}/feedbackcontainer", .noFeedback),
    ]

    /// `GET /{hub}`: of a hub that is not there Azure returns an empty list, and its SDKs say then that there is none.
    private func read(_ call: HubCall, _ hub: String) -> Response {
        guard hub.lowercased() == name.lowercased() else {
            return feed(call, title: "Publicly Listed Services") { _ in }
        }
        var xml = XMLWriter()
        write(call, to: &xml, link: call.selfURL, attributes: ["xmlns": Namespace.atom])
        return Response(status: .ok, fields: [.contentType: HubResponse.entry], body: xml.bytes)
    }

    /// `GET /$Resources/NotificationHubs`
    private func list(_ call: HubCall) -> Response {
        feed(call, title: "NotificationHubs") { xml in
            let link = "https://\(call.request.authority)/\(name)?api-version=\(call.apiVersion)"
            write(call, to: &xml, link: link, attributes: [:])
        }
    }

    private func feed(_ call: HubCall, title: String, _ entries: (inout XMLWriter) -> Void) -> Response {
        var xml = XMLWriter()
        xml.element("feed", attributes: ["xmlns": Namespace.atom]) { xml in
            xml.element("title", title, attributes: ["type": "text"])
            xml.element("id", call.selfURL)
            xml.element("updated", HubTime(call.now).iso8601)
            xml.emptyElement("link", attributes: ["rel": "self", "href": call.selfURL])
            entries(&xml)
        }
        return Response(status: .ok, fields: [.contentType: HubResponse.feed], body: xml.bytes)
    }

    /// Without policies and credentials: who has a key of the hub need not know the others.
    private func write(
        _ call: HubCall, to xml: inout XMLWriter, link: String, attributes: KeyValuePairs<String, String>
    ) {
        let time = HubTime(call.now).iso8601
        xml.element("entry", attributes: attributes) { xml in
            xml.element("id", link)
            xml.element("title", name, attributes: ["type": "text"])
            xml.element("published", time)
            xml.element("updated", time)
            xml.element("author") { $0.element("name", call.request.authority) }
            xml.emptyElement("link", attributes: ["rel": "self", "href": link])
            xml.element("content", attributes: ["type": "application/xml"]) { xml in
                let namespaces: KeyValuePairs = ["xmlns": Namespace.hub, "xmlns:i": Namespace.instance]
                xml.element("NotificationHubDescription", attributes: namespaces) { xml in
                    xml.element("RegistrationTtl", Self.never)
                }
            }
        }
    }
}

extension HubFault {
    fileprivate static let fixedHub = HubFault(
        .forbidden, "The operator of this server configures its hub. No client creates, changes or deletes it.")
    fileprivate static let noJobs = HubFault(
        .forbidden,
        "This hub has no jobs. Its operator exports and imports with app-backend store export and store import.")
    fileprivate static let noFeedback = HubFault(
        .forbidden,
        "This hub has no feedback container. The outcome of each notification is in its details, GET messages/{id}.")
}
