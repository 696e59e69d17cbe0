// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import JSON
internal import Push
internal import Text

/// A push service's own words for a refusal, for the operator's log. Each vendor has a place of its own for them: Apple
/// `reason`, Mozilla `errno` and `message`, Google the text or the title of a page, Microsoft a header.
struct RefusalWords {
    /// In characters.
    static let maximumLength = 200
    /// A longer word may be an endpoint, a token or a key.
    static let maximumWordLength = 48
    /// A shorter part of an address is a name that the service gives to its resources, such as `wpush` or `v2`.
    private static let minimumSecretLength = 8

    let text: String

    /// - Parameter request: what was refused; no part of its address or of its authorization is repeated.
    init(_ response: Response, to request: Request) {
        let said = Self.said(response)
        let words = said.split(whereSeparator: \.isWhitespace)
            .map { $0.count > Self.maximumWordLength ? "..." : $0 }.joined(separator: " ")
        let line = ServiceSentence(words, without: Self.secrets(of: request))?.text
        text = line.map { String($0.prefix(Self.maximumLength)) } ?? "status \(response.status.code)"
    }

    private static func said(_ response: Response) -> String {
        if let words = response.fields[.errorDescription] { return words }
        if let json = try? JSONValue(parsing: response.body) { return said(json) ?? response.status.reasonPhrase }
        let body = String(decoding: response.body, as: UTF8.self)
        guard body.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else {
            return body.isEmpty ? response.status.reasonPhrase : body
        }
        return title(ofPage: body) ?? response.status.reasonPhrase
    }

    private static func said(_ json: JSONValue) -> String? {
        let number = json["errno"]?.integer.map { "errno \($0)" }
        let error = json["error"]
        let words =
            json["reason"]?.string ?? json["message"]?.string ?? error?["message"]?.string ?? error?.string
        let parts = [number, words].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    /// Google's pages say it in their title.
    private static func title(ofPage page: String) -> String? {
        for (start, end) in [("<title>", "</title>"), ("<TITLE>", "</TITLE>")] {
            guard let begin = page.firstRange(of: start)?.upperBound,
                let stop = page[begin...].firstRange(of: end)?.lowerBound
            else { continue }
            return String(page[begin..<stop])
        }
        return nil
    }

    private static func secrets(of request: Request) -> [Secret] {
        let parts = (request.path + "/" + request.query).split { "/?&=".contains($0) }.map(String.init)
        let decoded = parts.compactMap { PercentEncoding.decode(Array($0.utf8)) }
        let authorization = (request.fields[.authorization] ?? "").split { " ,=".contains($0) }.map(String.init)
        return (parts + decoded + authorization)
            .filter { $0.utf8.count >= minimumSecretLength && !$0.utf8.allSatisfy(isLowercase) }.map { Secret($0) }
    }

    private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
