// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Text

extension Request {
    /// Whether it has no body, or the `null` that clients made by a generator send in its place.
    var isWithoutBody: Bool {
        body.isEmpty || body.count < 16 && body.lazy.filter { !ASCII.isBlank($0) }.elementsEqual("null".utf8)
    }

    /// Refuses a body that says it is something other than JSON. A body that says nothing is taken for JSON.
    /// - Throws: `Problem` 415.
    func requireJSON() throws(Problem) {
        guard let type = fields[.contentType] else { return }
        let media = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard media == "application/json" || media.hasSuffix("+json") else {
            throw Problem(.unsupportedMediaType, "The body must be application/json.", field: "Content-Type")
        }
    }

    /// Refuses a body that is compressed: nothing here would bound what comes out of it.
    /// - Throws: `Problem` 415.
    func requireIdentity() throws(Problem) {
        guard isEncoded else { return }
        throw Problem(
            .unsupportedMediaType, "Content-Encoding must be identity: compressed bodies are not taken.",
            field: "Content-Encoding")
    }

    /// The body as one JSON string: what a person typed. The tutorials' apps put quotation marks around it and nothing more,
    /// so tabs and line breaks are taken as they are.
    /// - Throws: `Problem` 400 or 415.
    func jsonString() throws(Problem) -> String {
        try requireJSON()
        let value = try JSONValue(body: body, isTyped: true)
        guard let text = value.string else {
            throw Problem(.invalidBody, "The body must be a JSON string, not \(value.kind).", field: "body")
        }
        return text
    }
}
