// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Commands

/// How a list of users and devices is divided into records.
struct ImportScannerTests {
    /// One line for each record: the line, and its cells, or why it is wrong.
    private static func read(_ scanner: any RecordScanner, _ bytes: [UInt8], pieceBytes: Int) -> [String] {
        var scanner = scanner
        var records: [ScannedRecord] = []
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            records += scanner.records(in: Array(bytes[start...].prefix(pieceBytes)))
        }
        return (records + scanner.end()).map { record in
            switch record.content {
            case .success(.cells(let cells)): "\(record.line) \(cells.joined(separator: "|"))"
            case .success(.text(let bytes)): "\(record.line) \(String(decoding: bytes, as: UTF8.self))"
            case .failure(let fault): "\(record.line) \(fault.reason)!"
            }
        }
    }

    private static let quoteWithin = "a quotation mark within a field that does not begin with one"
    private static let notAnObject =
        "expected an object, as the other records are; the rest of the file is not read"

    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let records: [String]

        init(_ text: String, _ records: String...) { (self.text, self.records) = (text, records) }

        var testDescription: String { text.debugDescription }
    }

    @Test(arguments: [
        Case("a,b\nc,d\n", "1 a|b", "2 c|d"), Case("a,b\r\nc,d", "1 a|b", "2 c|d"),
        Case("\n\r\n\na\n\nb\n", "4 a", "6 b"), Case("a;b,c\nd;e\n", "1 a|b,c", "2 d|e"),
        Case("a\tb\n,\t\n", "1 a|b", "2 ,|"),
        Case("a\nb,c\n", "1 a", "2 b|c"), Case("a,\n,b\n,,\n", "1 a|", "2 |b", "3 ||"),
        Case("\"a,\"\"b\"\"\",\"\"\nc\n", "1 a,\"b\"|", "2 c"), Case("\"a\nb\",c\nd\n", "1 a\nb|c", "3 d"),
        Case("\"a\r\nb\"\r\nc\r\n", "1 a\r\nb", "3 c"), Case(" a , b\n", "1  a | b"), Case("é,日本\n", "1 é|日本"),
        Case("a\"b\nc\n", "1 \(quoteWithin)!", "2 c"),
        Case("\"a\"b\nc\n", "1 text behind a quoted field!", "2 c"),
        Case("a\nb,\"c\nd\n", "1 a", "2 a quoted field without its end!"),
        Case("a\rb\nc\n", "1 a carriage return within the line!", "2 c"),
        Case("a\0b\nc\n", "1 a NUL character!", "2 c"),
        Case("\"a\0\nb\"\nc\n", "1 a NUL character!", "2 \(quoteWithin)!", "3 c"), Case(""), Case("\n"),
    ])
    func `rows are read as RFC 4180 has them, whatever pieces they come in`(test: Case) {
        for size in [1, 2, 3, 1_000] {
            #expect(Self.read(CSVScanner(), Array(test.text.utf8), pieceBytes: size) == test.records)
        }
    }

    @Test func `a row that is not UTF-8 is wrong, and the next one is not`() {
        let bytes = Array("a,b\n".utf8) + [0xC3, 0x28] + Array(",c\nd,e\n".utf8)
        #expect(Self.read(CSVScanner(), bytes, pieceBytes: 4) == ["1 a|b", "2 not UTF-8!", "3 d|e"])
    }

    @Test(arguments: [
        Case("{\"a\":1}\n\n{\"b\":2}", "1 {\"a\":1}", "3 {\"b\":2}"), Case("<a/>\r\n \n<b/>\n", "1 <a/>\r", "3 <b/>"),
    ])
    func `a line is a record, but for blank ones`(test: Case) {
        for size in [1, 5, 1_000] {
            #expect(Self.read(LineScanner(), Array(test.text.utf8), pieceBytes: size) == test.records)
        }
    }

    @Test(arguments: [
        Case("[{\"a\":1},\n {\"b\":[{\"c\":\"]}\\\"\"}]}]", "1 {\"a\":1}", "2 {\"b\":[{\"c\":\"]}\\\"\"}]}"),
        Case("{\"users\": [\n{\n\"a\":1}\n]}\n", "2 {\n\"a\":1}"),
        Case("{\"n\":{\"x\":[{}]},\"results\":[{}]}", "1 {}"),
        Case("[]"), Case("{\"results\":[]}"), Case("{\"rows\":[{}]}\n", "2 no list of records in the file!"),
        Case("[{}\n,{\"a\":", "1 {}", "2 the end of the file is missing!"),
        Case("[{}", "1 {}", "1 the end of the file is missing!"),
        Case("[{},\n7,{}]", "1 {}", "2 \(notAnObject)!"), Case("[[{}]]", "1 \(notAnObject)!"),
        Case("[{\"a\":[}]", "1 '}' without its beginning!"), Case("", "1 no list of records in the file!"),
    ])
    func `the objects of an array are records, and so are those of Parse's and Firebase's`(test: Case) {
        for size in [1, 2, 1_000] {
            #expect(Self.read(JSONScanner(), Array(test.text.utf8), pieceBytes: size) == test.records)
        }
    }

    @Test func `a record that is too long is wrong, and the next one is not`() {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: ScannedRecord.maximumBytes + 1)
        let fault = "longer than 1048576 bytes!"
        func read(_ scanner: any RecordScanner, _ before: String, _ after: String) -> [String] {
            Self.read(scanner, Array(before.utf8) + long + Array(after.utf8), pieceBytes: 1 << 16)
        }
        #expect(read(CSVScanner(), "a\n", "\nb\n") == ["1 a", "2 \(fault)", "3 b"])
        #expect(read(CSVScanner(), "a\n\"", "\nb\n") == ["1 a", "2 \(fault)", "3 b"])
        #expect(read(LineScanner(), "", "\nb\n") == ["1 \(fault)", "2 b"])
        #expect(read(JSONScanner(), "[{\"a\":\"", "\"},\n{}]") == ["1 \(fault)", "2 {}"])
        #expect(Self.read(JSONScanner(), Array(repeating: UInt8(ascii: "["), count: 100), pieceBytes: 7).count == 1)
    }

    @Test(arguments: [
        ("user,token\n", ImportFormat.csv), ("", .csv), (" \n<AppleRegistrationDescription", .azure),
        ("[\n", .json), ("{\"users\":[", .json), ("{\n\"users\":[", .json), ("{\"results\":[]}\n", .json),
        ("{\"user\":\"a\"}\n{", .jsonl),
        ("{\"user\":\"a\"}", .jsonl),
    ])
    func `the beginning of a file tells its form`(text: String, format: ImportFormat) {
        #expect(ImportFormat(beginning: Array(text.utf8)) == format)
    }
}
