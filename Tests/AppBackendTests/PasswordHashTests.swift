// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AppBackend

struct PasswordHashTests {
    @Test func `a made hash is yescrypt and verifies its password alone`() throws {
        let hash = try PasswordHash.make("correct horse")
        #expect(hash.hasPrefix("$y$"))
        #expect(PasswordHash.verify("correct horse", hash))
        #expect(!PasswordHash.verify("correct hors", hash))
        #expect(!PasswordHash.verify("", hash))
    }

    @Test func `two hashes of one password differ`() throws {
        #expect(try PasswordHash.make("same") != PasswordHash.make("same"))
    }

    /// Test vectors of crypt_blowfish and of the SHA-crypt specification.
    @Test(arguments: [
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        ("U*U", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        (
            "Hello world!",
            "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl"
                + "/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"
        ),
    ])
    func `hashes of other programs verify their password alone`(password: String, hash: String) {
        #expect(PasswordHash.verify(password, hash))
        #expect(!PasswordHash.verify(password + "x", hash))
    }

    @Test(arguments: [
        ("$2y$14$Fdb6RLyaBOL3CFFJzhIQMeG4gUSOoBRL.aOJ5I0Sz4C4dWLhRZ2Ky", true), ("$2y$15$Fdb6RL", false),
        ("$2b$31$CCCC", false), ("$2b$x$CCCC", false), ("$2b$", false), ("$6$salt$hash", true),
        ("$6$rounds=1000000$salt$hash", true), ("$6$rounds=999999999$salt$hash", false),
        ("$6$rounds=99999999999999999999$salt$hash", false), ("$y$j9T$salt$hash", true), ("$y$jCT$salt$hash", true),
        ("$y$jDT$salt$hash", false), ("$y$jFT$salt$hash", false), ("$y$jzz$salt$hash", false), ("$y$j$salt", false),
    ])
    func `a hash that a log-in cannot compute in time is too costly`(hash: String, isAffordable: Bool) throws {
        #expect(PasswordHash.isAffordable(hash) == isAffordable)
        #expect(try PasswordHash.isAffordable(PasswordHash.make("own")))
    }

    /// Made by `mkpasswd` and `htpasswd -B`.
    @Test(arguments: [
        "$2y$05$Fdb6RLyaBOL3CFFJzhIQMeG4gUSOoBRL.aOJ5I0Sz4C4dWLhRZ2Ky",
        "$6$rounds=1000$saltsalt$1yMuFK.7LO3iGYoEP9SSrwXwLVnSlVTGIVUKvR95Uvw1UQQj6Xsm/FVKMbWVxbBsa1ntOw/6iYXYPAvxvvmWg/",
    ])
    func `hashes of other programs are accepted as such`(hash: String) {
        #expect(PasswordHash.isAccepted(hash))
        #expect(!PasswordHash.verify("wrong", hash))
    }

    @Test(arguments: ["", "x", "*0", "$1$salt$hash", "$apr1$salt$hash", "$5$salt$hash", "$y$", "$y$j9T$\n", "plain"])
    func `what is no hash of an accepted kind verifies nothing`(hash: String) {
        #expect(!PasswordHash.verify("x", hash))
        #expect(!PasswordHash.verify("", hash))
    }

    @Test(arguments: ["", "a\0b", String(repeating: "x", count: 512)])
    func `an unusable password is refused when it is set`(password: String) {
        #expect(throws: PasswordHash.Failure.unusablePassword) { try PasswordHash.make(password) }
    }

    @Test func `a NUL does not end a password`() throws {
        let hash = try PasswordHash.make("abc")
        #expect(!PasswordHash.verify("abc\0def", hash))
    }
}
