// SPDX-License-Identifier: Apache-2.0
import HTTP
import Support
import Testing

@testable import FastCGI

/// A peer can send any bytes; whatever they are, the next good request is answered.
@Suite struct HostileBytesTests {
    @Test(arguments: [
        Wire.begin() + Wire.record(4, Wire.fourByteLength(0xFFFF_FFFF) + Wire.fourByteLength(0xFFFF_FFFF)),
        Wire.begin() + Wire.record(4, Wire.fourByteLength(0xBFFF_FFFF) + [0]),
        Wire.record(9, id: 0, Wire.fourByteLength(0xFFFF_FFFF)),
        Wire.head("POST", "/", declared: "9")
            + Wire.record(9, id: 0, (0..<100).flatMap { _ in Wire.pair("FCGI_MAX_CONNS", "") }),
        Wire.begin() + Wire.begin(),
        Array("GET / HTTP/1.1\r\n\r\n".utf8),
    ])
    func `a peer that lies loses its connection and nothing else`(_ bytes: [UInt8]) throws {
        try TestServer.with { server in
            let liar = try server.client()
            liar.send(bytes)
            #expect(liar.isClosedByServer())
            #expect(try server.client().exchange(Wire.request())?.code == 200)
        }
    }

    /// Mutations of one good request. The seed makes a failure repeatable.
    private static let mutations = 4000
    private static let seed: UInt64 = 0x5EED

    @Test func `random mutations of a request end no process and hold no worker`() throws {
        let good = Wire.request(
            "POST", "/fuzz?a=b",
            [("HTTP_AUTHORIZATION", "Basic eA=="), ("HTTP_X", String(repeating: "x", count: 200))],
            body: Array("hello".utf8))
        var random = SeededRandom(seed: Self.seed)
        var limits = ServerLimits.small
        limits.connections = 100_000
        try TestServer.with(limits) { server in
            let witness = try server.client()
            for round in 0..<Self.mutations {
                let client = try server.client()
                client.send(mutate(good, &random))
                if round % 2 == 0 { client.endSending() }
                if round % 20 == 0 { #expect(witness.exchange(good)?.code == 200) }
            }
            #expect(witness.exchange(good)?.body == "POST /fuzz?a=b Basic eA== 5")
            #expect(!server.server.status.refused.isEmpty)
        }
    }

    private func mutate(_ good: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = good
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.removeSubrange(min(place, bytes.count)...)
            case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: min(place, bytes.count))
            default: bytes.insert(contentsOf: bytes.suffix(16), at: min(place, bytes.count))
            }
        }
        return bytes
    }
}
