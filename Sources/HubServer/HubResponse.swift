// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Text

/// The forms of the hub's answers.
///
/// Azure has two generations of servers whose answers differ in headers, ids and digits. This hub imitates the older
/// one (ETag and Content-Location as fields, `application/atom+xml`, ids without a prefix), which all clients
/// understand, and takes one thing from the newer: every answer has a `TrackingId`, here the request's own.
enum HubResponse {
    static let xml = "application/xml; charset=utf-8"
    static let entry = "application/atom+xml; type=entry; charset=utf-8"
    static let feed = "application/atom+xml; type=feed; charset=utf-8"

    /// 201 without a body.
    static func created(location: String) -> Response {
        Response(status: .created, fields: [.contentType: xml, .location: location])
    }

    /// 200 with one registration. Official clients take nothing but 200 for a registration that was just created.
    static func registration(_ registration: RegistrationDescription, link: String, now: Int64) -> Response {
        let body = AtomEntry(link: link, updated: HubTime(now).iso8601, registration: registration).encode()
        var response = Response(status: .ok, fields: [.contentType: entry], body: body)
        response.fields[.eTag] = "W/\"\(registration.etag ?? "")\""
        return response
    }

    /// `<Error>` with the sentence, the tracking id and the time, as Azure words it.
    static func fault(_ fault: HubFault, trackingID: String, now: Int64) -> Response {
        let detail = "\(fault.message).TrackingId:\(trackingID)_G0,TimeStamp:\(HubTime(now).american)"
        let document = ErrorDocument(code: String(fault.status.code), detail: detail)
        var fields = fault.fields
        fields[.contentType] = xml
        return Response(status: fault.status, fields: fields, body: document.encode())
    }

    /// A tracking id longer than this is not taken over, in bytes.
    private static let maximumTrackingIDLength = 128

    /// The request's own tracking id, when it is one; otherwise a new one.
    static func trackingID(of request: Request) -> String {
        guard let id = request.fields[.trackingID], (1...maximumTrackingIDLength).contains(id.utf8.count),
            id.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "-_.".utf8.contains($0) })
        else { return TrackingID.random() }
        return id
    }
}
