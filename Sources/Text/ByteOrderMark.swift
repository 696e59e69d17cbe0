// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// A text's bytes without the mark that some editors and clients put in front of UTF-8 (RFC 3629 section 6). It is no part
    /// of a password or a key, and a reader of JSON may ignore it (RFC 8259 section 8.1).
    package var withoutByteOrderMark: [UInt8] {
        // Most texts are told by the first byte.
        first == 0xEF && starts(with: [0xEF, 0xBB, 0xBF]) ? Array(dropFirst(3)) : self
    }
}
