// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text that the bytes are in UTF-8; nil when they are not UTF-8.
    ///
    /// `String(validating:as:)` does it on Linux and on systems of 2024 and later. Apps run on older ones. Its check takes as long as
    /// all else that is done with a short text, and most texts are ASCII.
    @inlinable
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else if #available(macOS 15.0, iOS 18.0, *) {
            self.init(validating: bytes, as: UTF8.self)
        } else {
            self.init(repairingUTF8: bytes)
        }
    }

    /// The same by what the older systems have: each byte that is not UTF-8 is repaired, so that the text differs.
    @inlinable
    package init?(repairingUTF8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}
