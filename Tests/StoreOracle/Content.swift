// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
import Text

/// What records are made of: functions of their keys, so that half a record, or one of two halves, cannot pass for whole.
enum Content {
    /// The key, many times over.
    static func payload(of key: String, length: Int) -> String {
        Array(repeating: key, count: length).joined(separator: " ")
    }

    /// The key that all of the payload is made of; nil when it is not whole.
    static func key(of payload: String) -> String? {
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard let first = words.first, words.allSatisfy({ $0 == first }) else { return nil }
        return String(first)
    }

    static func document(_ revision: Int) -> JSONValue {
        .array(Array(repeating: .number(String(revision)), count: 6))
    }

    /// Nil when it is not whole.
    private static func revision(of document: JSONValue) -> String? {
        guard let numbers = document.array, numbers.count == 6, let first = numbers.first,
            numbers.allSatisfy({ $0 == first })
        else { return nil }
        return first.integer.map(String.init)
    }

    /// When the message of that key is due: every third at once, the others within some hours of the writers' time. A function
    /// of the key, as all content is.
    static func notBefore(ofMessage key: String) -> Timestamp? {
        guard let index = key.split(separator: "m").last.flatMap({ Int($0) }), !index.isMultiple(of: 3) else {
            return nil
        }
        return Writer.fixedTime + Int64(index % 7 - 3) * 3_600
    }

    /// What a journal calls the record; nil for a kind that it does not know.
    static func line(of record: StoredRecord) -> (Kind, key: String, state: String)? {
        switch record.record {
        case let note as SecureNotification: (.notification, key(of: note.payload) ?? "torn", state(of: note))
        case let registration as HubRegistration: (.registration, registration.id, state(of: registration))
        case let device as DeviceRecord: (.device, device.id, state(of: device))
        case let session as Session: (.session, session.id, session.owner)
        case let user as User: (.user, user.name, user.passwordHash)
        case let message as HubMessage where [StoredRecord.queue, StoredRecord.due].contains(record.table):
            (.message, message.id, state(of: message))
        case let request as IdempotentRequest: (.request, request.key, state(of: request))
        default: nil
        }
    }

    static func state(of note: SecureNotification) -> String { "\(note.owner):\(note.isRead ? "read" : "unread")" }

    static func state(of device: DeviceRecord) -> String {
        "\(device.owner)#\(key(of: device.handle) ?? "torn")"
    }

    static func state(of registration: HubRegistration) -> String {
        "\(registration.tags.joined(separator: ","))#\(revision(of: registration.description) ?? "torn")"
    }

    static func state(of request: IdempotentRequest) -> String {
        guard let answer = request.answer else { return "\(request.owner):claimed" }
        return "\(request.owner):\(key(of: answer.body) == request.key ? "answered" : "torn")"
    }

    static func state(of message: HubMessage) -> String { "#\(revision(of: message.document) ?? "torn")" }
}
