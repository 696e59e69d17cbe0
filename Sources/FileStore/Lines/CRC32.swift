// SPDX-License-Identifier: Apache-2.0

/// The checksum of Ethernet, zip and PNG (CRC-32/ISO-HDLC): it tells a line that we wrote from one that was edited.
enum CRC32 {
    /// How many bytes are taken at once ("slicing by 8").
    private static let width = 8

    /// For every byte, and each number of zeros behind it, the checksum (reflected polynomial 0xEDB88320): 256 for no zero, 256
    /// for one, and so on.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { (byte: UInt32) -> UInt32 in
            (0..<8).reduce(byte) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        for index in 256..<256 * width {
            let value = tables[index - 256]
            tables.append(tables[Int(value & 0xFF)] ^ (value >> 8))
        }
        return tables
    }()

    static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var value: UInt32 = .max
            var rest = UnsafeRawBufferPointer(bytes)
            while rest.count >= width {
                let word = UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)) ^ UInt64(value)
                value = 0
                for index in 0..<width {
                    let byte = Int(truncatingIfNeeded: word &>> UInt64(8 &* index)) & 0xFF
                    value ^= tables[256 * (width - 1 - index) + byte]
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[width...])
            }
            for byte in rest { value = tables[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
            return ~value
        }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { checksum($0) }
    }
}
