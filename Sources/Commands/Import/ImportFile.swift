// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import NotificationHub
import Text

/// The forms of a list of users and devices.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    /// With the names of the columns in the first row.
    case csv
    /// JSON Lines: an object in each line.
    case jsonl
    /// One array of objects, or an object that has it as `results` or `users`.
    case json
    /// Azure's export of registrations: an element in each line.
    case azure

    /// The form of a file that begins so.
    init(beginning piece: [UInt8]) {
        let text = piece.drop(while: ASCII.isBlank)
        switch text.first {
        case UInt8(ascii: "<"): self = .azure
        case UInt8(ascii: "["): self = .json
        case UInt8(ascii: "{"):
            guard let line = try? JSONValue(parsing: Array(text.prefix { $0 != 0x0A })), line.members != nil else {
                self = .json
                return
            }
            self = JSONScanner.members.contains { line[$0]?.array != nil } ? .json : .jsonl
        default: self = .csv
        }
    }

    var scanner: any RecordScanner {
        switch self {
        case .csv: CSVScanner()
        case .jsonl, .azure: LineScanner()
        case .json: JSONScanner()
        }
    }
}

/// A record, whose values are found by the names of columns or members.
struct ImportRecord {
    /// From 1, without the row of the columns' names.
    let number: Int
    let line: Int
    /// Whether other records may be in the same line.
    let sharesLine: Bool
    /// By `name(_:)`. Of an object in the record also its members, as `user.objectid`.
    let fields: Result<[String: JSONValue], ImportFault>

    /// As names are compared: without case, and without `_`, `-` and blanks.
    static func name(_ text: String) -> String {
        String(decoding: text.lowercased().utf8.filter { !"_- ".utf8.contains($0) }, as: UTF8.self)
    }
}

extension ImportRecord {
    /// As a message begins that is about it.
    var place: String { sharesLine ? "\(line): record \(number)" : "\(line)" }
}

/// A list of users and devices, which is read more than once.
struct ImportFile {
    let path: String
    private let reader: LineReader
    private let format: ImportFormat

    /// - Parameter format: nil: the beginning of the file tells it.
    /// - Throws: `CommandError`.
    init(_ path: String, _ format: ImportFormat?) throws {
        self.path = path
        reader = try LineReader(path, example: "app-backend import --from users.csv")
        self.format = try format ?? ImportFormat(beginning: reader.firstPiece().withoutByteOrderMark)
    }

    /// Calls `body` with every record, from the beginning.
    /// - Parameter checkColumns: is called with the names of the columns, if the file has them, as `ImportRecord.name(_:)`.
    /// - Throws: `CommandError`, also for a file without names of columns; what `checkColumns` and `body` throw.
    func forEachRecord(
        checkColumns: ([String]) throws(ImportFault) -> Void, _ body: (ImportRecord) throws -> Void
    ) throws {
        var scanner = format.scanner
        var (columns, number): ([String]?, Int) = (nil, 0)
        func pass(_ records: [ScannedRecord]) throws {
            for record in records {
                if format == .csv, columns == nil {
                    columns = try header(record, checkColumns)
                } else {
                    number += 1
                    try body(
                        ImportRecord(
                            number: number, line: record.line, sharesLine: format == .json,
                            fields: fields(record, columns ?? [])))
                }
            }
        }
        var isFirst = true
        try reader.forEachPiece { piece in
            try pass(scanner.records(in: isFirst ? piece.withoutByteOrderMark : piece))
            isFirst = false
        }
        try pass(scanner.end())
        if format == .csv, columns == nil { throw CommandError("\(path): the file is empty.") }
    }

    /// The names are not repeated: in a file without them they would be a user's push token.
    private func header(
        _ record: ScannedRecord, _ check: ([String]) throws(ImportFault) -> Void
    ) throws -> [String] {
        do throws(ImportFault) {
            guard case .cells(let cells) = try record.content.get() else { return [] }
            let names = cells.map(ImportRecord.name)
            let named = names.filter { !$0.isEmpty }
            guard Set(named).count == named.count else { throw ImportFault(reason: "two columns have the same name") }
            try check(names)
            return names
        } catch {
            throw CommandError("\(path):\(record.line): \(error.reason)")
        }
    }

    private func fields(
        _ record: ScannedRecord, _ columns: [String]
    ) -> Result<[String: JSONValue], ImportFault> {
        record.content.flatMap { content in
            switch content {
            case .cells(let cells):
                guard cells.count == columns.count else {
                    let reason = "the row has \(cells.count) fields, and the first row has \(columns.count)"
                    return .failure(ImportFault(reason: reason))
                }
                let pairs = zip(columns, cells).map { ($0, JSONValue.string($1)) }
                return .success(Dictionary(pairs) { first, _ in first })
            case .text(let bytes): return format == .azure ? Self.registration(bytes) : Self.object(bytes)
            }
        }
    }

    private static func object(_ bytes: [UInt8]) -> Result<[String: JSONValue], ImportFault> {
        do throws(JSONSyntaxError) {
            guard let members = try JSONValue(parsing: bytes).members else {
                return .failure(ImportFault(reason: "not a JSON object"))
            }
            var fields: [String: JSONValue] = [:]
            for member in members {
                let name = ImportRecord.name(member.name)
                fields[name] = member.value
                for inner in member.value.members ?? [] {
                    fields["\(name).\(ImportRecord.name(inner.name))"] = inner.value
                }
            }
            return .success(fields)
        } catch {
            return .failure(ImportFault(reason: "not a JSON object: \(error)"))
        }
    }

    private static func registration(_ bytes: [UInt8]) -> Result<[String: JSONValue], ImportFault> {
        do throws(AtomError) {
            return .success(try RegistrationDescription(element: bytes).importFields)
        } catch {
            if case .badHandle(let error) = error { return .failure(ImportFault(reason: "\(error)")) }
            return .failure(ImportFault(reason: "not a registration of Azure's: \(error)"))
        }
    }
}

extension RegistrationDescription {
    /// Under the names that `ImportMapping` knows.
    fileprivate var importFields: [String: JSONValue] {
        let parts = handle.parts
        var fields: [String: JSONValue] = ["platform": .string(platform.rawValue), "token": .string(parts.text)]
        if let p256dh = parts.p256dh { fields["p256dh"] = .string(p256dh) }
        if let auth = parts.auth { fields["auth"] = .string(auth) }
        if let id { fields["installation"] = .string(id.description) }
        let users = tags.filter { Tag.has(Tag.userPrefix, $0.description) }
        // Of several users the tags do not say which one has the device.
        if let user = users.first, users.count == 1 {
            fields["user"] = .string(String(user.description.dropFirst(Tag.userPrefix.count)))
        }
        let others = tags.filter { !$0.isSystem && !users.contains($0) }
        fields["tags"] = .array(others.map { .string($0.description) })
        return fields
    }
}
