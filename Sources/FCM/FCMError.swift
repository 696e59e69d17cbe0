// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// The error object of Google's APIs (`google.rpc.Status`), with the details that FCM adds.
struct FCMError {
    /// Of FCM: `UNREGISTERED`.
    let code: String?
    /// Of the RPC: `NOT_FOUND`.
    let status: String?
    /// A sentence for people.
    let message: String
    /// Seconds.
    let retryDelay: Int?
    /// What a quota's violation says of itself, in lower case.
    private let quotaTexts: [String]
    /// The fields of the request that Google names as wrong.
    private let wrongFields: [String]

    /// - Returns: nil for what is not such an object.
    init?(_ body: [UInt8]) {
        guard let error = (try? JSONValue(parsing: body))?["error"], error.members != nil else { return nil }
        let details = error["details"]?.array ?? []
        func detail(_ type: String) -> JSONValue? {
            details.first { $0["@type"]?.string?.hasSuffix("." + type) ?? false }
        }
        code = detail("FcmError")?["errorCode"]?.string.flatMap(Self.name)
        status = error["status"]?.string.flatMap(Self.name)
        message = error["message"]?.string ?? ""
        retryDelay = detail("RetryInfo")?["retryDelay"]?.string.flatMap(Self.seconds)
        wrongFields = (detail("BadRequest")?["fieldViolations"]?.array ?? []).compactMap { $0["field"]?.string }
        let violations = detail("QuotaFailure")?["violations"]?.array ?? []
        let metadata = detail("ErrorInfo")?["metadata"].map { [$0] } ?? []
        let texts = (violations + metadata).flatMap { ($0.members ?? []).compactMap(\.value.string) }
        quotaTexts = texts.map { $0.lowercased() }
    }

    /// Whether it says that the registration token or the installation id is not one.
    var isAboutDevice: Bool {
        guard code != nil else { return false }
        let text = message.lowercased()
        return text.contains("registration token") || text.contains("installation id")
            || wrongFields.contains { ["message.token", "message.fid"].contains($0) }
    }

    /// Whether it is one device that has got too many messages, not the project that has sent too many. Google has several
    /// spellings for it.
    var isDeviceQuota: Bool { (quotaTexts + [message.lowercased()]).contains { $0.contains("device") } }

    /// Such a name and nothing else goes into the log.
    private static func name(_ text: String) -> String? {
        text.utf8.count <= 64 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F } ? text : nil
    }

    /// `3.5s`, rounded up.
    private static func seconds(_ text: String) -> Int? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), (0...86_400).contains(seconds) else {
            return nil
        }
        return Int(seconds.rounded(.up))
    }
}
