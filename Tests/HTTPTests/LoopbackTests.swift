// SPDX-License-Identifier: Apache-2.0
import Testing
import Text

struct LoopbackTests {
    @Test(arguments: [
        "127.0.0.1", "127.255.0.9", "::1", "[::1]", "0:0:0:0:0:0:0:1", "0::0001", "::ffff:127.0.0.1",
        "::FFFF:127.1.2.3",
    ]) func `an address of this host is known in every spelling`(address: String) {
        #expect(Loopback.contains(address))
    }

    @Test(arguments: [
        "", "128.0.0.1", "127.0.0", "127.0.0.256", "127.0.0.+1", "127.example.org", "127.0.0.1.example", "localhost",
        "::",
        "1::", "::2", "::11", "1::1", "0:1::", "::127.0.0.1", "::ffff:128.0.0.1", "::fffe:127.0.0.1", "fe80::1", "[",
        "[]",
        ":", "[::1",
    ]) func `any other address, or a name, is not`(address: String) {
        #expect(!Loopback.contains(address))
    }
}
