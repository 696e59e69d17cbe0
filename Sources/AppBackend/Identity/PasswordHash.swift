// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Text

/// Password hashes as `crypt(3)` makes and checks them (libxcrypt).
///
/// Accepted: yescrypt (`$y$`), bcrypt (`$2a$`, `$2b$`, `$2y$`) and SHA-512 (`$6$`), so that the hashes of
/// `/etc/shadow` and of `htpasswd -B` can be brought along. Made: yescrypt, the default of libxcrypt.
package enum PasswordHash {
    /// libxcrypt refuses longer ones (`CRYPT_MAX_PASSPHRASE_SIZE` less the terminator), in bytes.
    package static let maximumPasswordBytes = 511

    /// A longer text is no hash of `crypt(3)` (`CRYPT_OUTPUT_SIZE` less the terminator).
    static let maximumHashBytes = 383

    /// Why no hash was made.
    package enum Failure: Error, Equatable, Sendable {
        /// The password is empty, longer than `maximumPasswordBytes`, or holds a NUL.
        case unusablePassword
        /// libcrypt offers no yescrypt here or refused; `code` is `errno`.
        case refused(code: Int32)
    }

    /// Whether this is a hash of a kind that we accept.
    package static func isAccepted(_ hash: String) -> Bool {
        ["$y$", "$2a$", "$2b$", "$2y$", "$6$"].contains { hash.hasPrefix($0) } && hash.utf8.count <= maximumHashBytes
            && hash.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }

    /// The highest cost of a hash that others have made: each takes about a second of a log-in at most, and 128 MiB.
    private static let maximumBcryptCost = 14
    private static let maximumSHARounds = 1_000_000
    private static let maximumYescryptBlocks = 1 << 20
    package static let tooCostly =
        "the hash costs too much at each log-in: bcrypt is accepted up to cost 14, SHA-512 up to 1000000 rounds, yescrypt up to "
        + "128 MiB"

    /// Whether a log-in can compute it in time. `isAccepted` has looked at its kind.
    package static func isAffordable(_ hash: String) -> Bool {
        let fields = hash.split(separator: "$", omittingEmptySubsequences: false).dropFirst()
        guard let kind = fields.first, let cost = fields.dropFirst().first else { return false }
        switch kind {
        case "y": return yescryptBlocks(cost).map { $0 <= maximumYescryptBlocks } ?? false
        case "6":
            let rounds = "rounds="
            return !cost.hasPrefix(rounds) || Int(cost.dropFirst(rounds.count)).map { $0 <= maximumSHARounds } ?? false
        default: return Int(cost).map { $0 <= maximumBcryptCost } ?? false
        }
    }

    /// The memory in blocks of 128 bytes (N * r). libxcrypt writes three digits: the flavor, the binary logarithm of N, and r. A digit
    /// is that of base 64, and stands for one more.
    /// - Returns: nil for other parameters, which libxcrypt does not write by itself.
    private static func yescryptBlocks(_ parameters: Substring) -> Int? {
        let digits = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let values = parameters.utf8.map { digits.firstIndex(of: $0).map { $0 + 1 } }
        guard values.count == 3, parameters.hasPrefix("j"), let logarithm = values[1], let blockSize = values[2],
            logarithm < 32
        else { return nil }
        return blockSize << logarithm
    }

    /// Hashes a new password: yescrypt at libxcrypt's default cost (about 15 ms and 16 MiB).
    /// - Throws: `Failure`.
    package static func make(_ password: String) throws(Failure) -> String {
        guard !password.isEmpty, isUsable(password) else { throw .unusablePassword }
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        guard crypt_gensalt_rn("$y$", 0, nil, 0, &setting, Int32(CRYPT_GENSALT_OUTPUT_SIZE)) != nil else {
            throw .refused(code: errno)
        }
        guard let hash = crypt(password, setting: string(setting)), isAccepted(hash) else {
            throw .refused(code: errno)
        }
        return hash
    }

    /// Whether the password is the one that was hashed. Takes as long as the hash's cost says: 1 ... 200 ms.
    package static func verify(_ password: String, _ hash: String) -> Bool {
        guard isAccepted(hash), isUsable(password), let computed = crypt(password, setting: hash) else { return false }
        // Secrets are compared without stopping at the first difference, so that time does not tell how much was right.
        return Secret(computed) == Secret(hash)
    }

    private static func isUsable(_ password: String) -> Bool {
        password.utf8.count <= maximumPasswordBytes && !password.utf8.contains(0)
    }

    /// `crypt_r(3)`. Its work area is 32 KiB, too much for a worker's stack.
    private static func crypt(_ password: String, setting: String) -> String? {
        let work = UnsafeMutablePointer<crypt_data>.allocate(capacity: 1)
        work.initialize(to: crypt_data())
        defer {
            // The work area held the password; a compiler may drop a plain overwriting before deallocation.
            platform_wipe(work, MemoryLayout<crypt_data>.size)
            work.deallocate()
        }
        // On failure it returns a text that begins with "*", never nil.
        guard let result = crypt_r(password, setting, work) else { return nil }
        let hash = String(cString: result)
        return hash.hasPrefix("*") ? nil : hash
    }

    private static func string(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
