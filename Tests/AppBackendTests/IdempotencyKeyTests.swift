// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Testing

struct IdempotencyKeyTests {
    @Test(arguments: [
        ("a", #""a""#), ("8e03978e-40d5-43dd-bc93-6894a57f9324", #""8e03978e-40d5-43dd-bc93-6894a57f9324""#),
        (#"!~"\"#, #""!~\"\\""#),
    ])
    func `a key and its field correspond`(text: String, field: String) throws {
        let key = try #require(IdempotencyKey(text))
        #expect(key.field == field)
        #expect(IdempotencyKey(field: field) == key)
        #expect(IdempotencyKey(field: text) == key)
    }

    @Test func `a key has 1 to 255 characters`() {
        #expect(IdempotencyKey("") == nil)
        #expect(IdempotencyKey(String(repeating: "x", count: 255)) != nil)
        #expect(IdempotencyKey(String(repeating: "x", count: 256)) == nil)
        #expect(IdempotencyKey(field: "\"\(String(repeating: "\\\"", count: 255))\"") != nil)
    }

    @Test func `each key by chance is another, and so is each part of one`() throws {
        let keys = (0..<100).map { _ in IdempotencyKey.random() }
        #expect(Set(keys).count == 100)
        let longest = try #require(IdempotencyKey(String(repeating: "x", count: 255)))
        for key in [keys[0], longest] {
            let parts = [key.part("apns"), key.part("wns"), key.part(String(repeating: "y", count: 999)), key]
            #expect(Set(parts).count == 4)
            #expect(parts.allSatisfy { IdempotencyKey($0.text) == $0 })
            #expect(key.part("apns") == parts[0])
        }
        #expect(keys[0].part("é \"x\"\n").text.hasSuffix("-x"))
    }
}
