// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON

/// What is kept of a plain message: what an inbox shows of it.
struct PlainMessage: Equatable {
    var title: String?
    var body: String?
    var link: String?

    /// A message that is a text alone.
    init(_ text: String) { body = text }

    init(_ message: PushMessage) { (title, body, link) = (message.title, message.body, message.link) }

    /// - Parameter payload: of the store; of another form it is a message without text.
    init(payload: String) {
        guard let value = try? JSONValue(parsing: Array(payload.utf8)) else { return }
        (title, body, link) = (value["Title"]?.string, value["Body"]?.string, value["Link"]?.string)
    }

    /// As the store keeps it.
    var payload: String {
        JSONWriter.object { json in
            if let title { json.member("Title", title) }
            if let body { json.member("Body", body) }
            if let link { json.member("Link", link) }
        }.text
    }

    /// Where there is room for one text.
    var text: String { [title, body].compactMap(\.self).joined(separator: "\n") }
}
