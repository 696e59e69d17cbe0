// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Push
internal import Text

/// The members of a credential file of Google's, checked as they are read.
struct CredentialFile {
    private let json: JSONValue
    private let trusted: Authority?
    /// Before the names in errors: `credential_source.`.
    private let prefix: String

    init(_ text: [UInt8], trusting trusted: Authority?) throws(GoogleCredentialError) {
        do {
            json = try JSONValue(parsing: text)
        } catch {
            throw GoogleCredentialError("", "the credential file is not JSON: \(error)")
        }
        guard json.members != nil else { throw GoogleCredentialError("", "the credential file is not a JSON object") }
        (self.trusted, prefix) = (trusted, "")
    }

    private init(_ json: JSONValue, trusting trusted: Authority?, prefix: String) {
        (self.json, self.trusted, self.prefix) = (json, trusted, prefix)
    }

    func has(_ name: String) -> Bool { json[name].map { !$0.isNull } ?? false }

    func text(_ name: String) throws(GoogleCredentialError) -> String {
        guard let text = json[name]?.string, !text.isEmpty else {
            throw GoogleCredentialError(prefix + name, "is missing, or not a text")
        }
        return text
    }

    /// The text, where there is one.
    func optionalText(_ name: String) throws(GoogleCredentialError) -> String? {
        has(name) ? try text(name) : nil
    }

    /// A number of seconds between these, where there is one.
    func optionalSeconds(_ name: String, _ range: ClosedRange<Int>) throws(GoogleCredentialError) -> Int? {
        guard has(name) else { return nil }
        guard let seconds = json[name]?.integer, range.contains(seconds) else {
            throw GoogleCredentialError(
                prefix + name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return seconds
    }

    /// The object, where there is one.
    func object(_ name: String) throws(GoogleCredentialError) -> CredentialFile? {
        guard has(name), let value = json[name] else { return nil }
        guard value.members != nil else { throw GoogleCredentialError(prefix + name, "must be an object") }
        return CredentialFile(value, trusting: trusted, prefix: "\(prefix)\(name).")
    }

    /// The members, all of which must be texts.
    func texts() throws(GoogleCredentialError) -> [(name: String, value: String)] {
        var texts: [(name: String, value: String)] = []
        for member in json.members ?? [] { texts.append((member.name, try text(member.name))) }
        return texts
    }

    /// An address of Google's. The server calls what the file names, and a file comes from outside.
    func googleURL(_ name: String) throws(GoogleCredentialError) -> ServiceURL {
        guard let url = ServiceURL(try text(name)), url.scheme == "https",
            url.isBelow("googleapis.com") || url.authority == trusted
        else { throw GoogleCredentialError(prefix + name, "must be an https address of a host below googleapis.com") }
        return url
    }

    func fault(_ name: String, _ reason: String) -> GoogleCredentialError {
        GoogleCredentialError(prefix + name, reason)
    }
}
