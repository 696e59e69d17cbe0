// SPDX-License-Identifier: Apache-2.0

/// The checksum of Ethernet, zip and PNG (CRC-32/ISO-HDLC): it tells a line that we wrote from one that was edited.
enum CRC32 {
    /// For every byte the checksum of that byte alone (reflected polynomial 0xEDB88320).
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var value: UInt32 = .max
            for byte in bytes { value = table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8) }
            return ~value
        }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { checksum($0) }
    }
}
