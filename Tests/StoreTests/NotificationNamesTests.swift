// SPDX-License-Identifier: Apache-2.0
import Store
import Testing

@Suite struct NotificationNamesTests {
    @Test func `ids and tokens keep their form`() {
        var tokens: Set<String> = []
        var random = KernelRandom()
        for _ in 0..<500 {
            let token = NotificationNames.token(using: &random)
            #expect(NotificationNames.isToken(token))
            #expect(token.first?.isLetter == true, "a command would take it for an option")
            #expect(token.last.map { "AQgw".contains($0) } == true)
            tokens.insert(token)
            let id = NotificationNames.id(using: &random) { !$0.isMultiple(of: 2) }
            #expect(NotificationNames.ids.contains(id) && !id.isMultiple(of: 2))
        }
        #expect(tokens.count == 500)
        for text in ["", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAA"] {
            #expect(!NotificationNames.isToken(text))
        }
    }
}
