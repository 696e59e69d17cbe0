// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc
import Text

/// The only file that uses OpenSSL's functions. It opens a client certificate by the calls that libcurl makes at each
/// handshake, so what libcurl would refuse at the first push is refused here.
final class CertificateFile {
    /// Apple's extensions that name the topics of a push certificate.
    private static let topicExtensions = ["1.2.840.113635.100.6.3.4", "1.2.840.113635.100.6.3.6"]

    private let context: OpaquePointer
    private let certificate: ClientCertificate

    /// - Throws: `ClientCertificateError`, when libcurl could not use the file.
    init(_ certificate: ClientCertificate) throws(ClientCertificateError) {
        // Errors of other calls on this thread would be taken for ours.
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .refused(Self.takeReasons().text) }
        (self.context, self.certificate) = (context, certificate)
        if certificate.isContainer { try openContainer() } else { try openPEM() }
        guard SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw .otherKey
        }
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// `X509_get0_notAfter(3)`, in seconds since 1970; nil when the date cannot be read.
    var notAfter: Int64? {
        var time = tm()
        guard let x509 = SSL_CTX_get0_certificate(context), ASN1_TIME_to_tm(X509_get0_notAfter(x509), &time) == 1 else {
            return nil
        }
        return Int64(timegm(&time))
    }

    /// The values of the extensions that list Apple's topics, in DER; empty for another issuer's certificate.
    var topicLists: [[UInt8]] {
        guard let x509 = SSL_CTX_get0_certificate(context) else { return [] }
        return Self.topicExtensions.compactMap { name in
            guard let object = OBJ_txt2obj(name, 1) else { return nil }
            defer { ASN1_OBJECT_free(object) }
            let value = X509_get_ext(x509, X509_get_ext_by_OBJ(x509, object, -1)).flatMap(X509_EXTENSION_get_data)
            guard let value, let bytes = ASN1_STRING_get0_data(value) else { return nil }
            return Array(UnsafeBufferPointer(start: bytes, count: max(0, Int(ASN1_STRING_length(value)))))
        }
    }

    // MARK: PEM

    private func openPEM() throws(ClientCertificateError) {
        let file = certificate.file
        guard SSL_CTX_use_certificate_chain_file(context, file) == 1 else {
            let reasons = Self.takeReasons()
            guard reasons.has(ERR_LIB_PEM, PEM_R_NO_START_LINE) else { throw .refused(reasons.text) }
            throw .noCertificate(isContainer: Self.container(file).map { PKCS12_free($0) } != nil)
        }
        var answer = PasswordAnswer(password: certificate.password)
        guard usePrivateKey(file, &answer) else {
            let reasons = Self.takeReasons()
            if reasons.has(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH) { throw .otherKey }
            if reasons.has(ERR_LIB_PEM, PEM_R_BAD_PASSWORD_READ) { throw .needsPassword }
            // Of 256 wrong passwords one makes bytes that end as a key's must, and OpenSSL then says that it knows no such
            // key.
            let isNoKey = reasons.list.contains { $0.reason == openssl_reason_unsupported() }
            if answer.wasAskedFor, isNoKey { throw .wrongPassword }
            if reasons.list.contains(where: { $0.reason == EVP_R_BAD_DECRYPT }) { throw .wrongPassword }
            if isNoKey { throw .noKey }
            throw .refused(reasons.text)
        }
    }

    /// What OpenSSL gets when it finds that a key is encrypted.
    private struct PasswordAnswer {
        let password: Secret?
        var wasAskedFor = false

        /// - Returns: the password's length in bytes; -1 where there is none, or it is longer than the buffer.
        mutating func write(to buffer: UnsafeMutablePointer<CChar>, _ size: Int) -> Int32 {
            wasAskedFor = true
            guard let bytes = password?.reveal().utf8.map(CChar.init(bitPattern:)), bytes.count <= size else {
                return -1
            }
            buffer.update(from: bytes, count: bytes.count)
            return Int32(bytes.count)
        }
    }

    private func usePrivateKey(_ file: String, _ answer: inout PasswordAnswer) -> Bool {
        // Without a function of ours OpenSSL asks at the terminal.
        SSL_CTX_set_default_passwd_cb(context) { buffer, size, _, answer in
            guard let buffer, let answer else { return -1 }
            return answer.assumingMemoryBound(to: PasswordAnswer.self).pointee.write(to: buffer, Int(size))
        }
        defer {
            SSL_CTX_set_default_passwd_cb_userdata(context, nil)
            SSL_CTX_set_default_passwd_cb(context, nil)
        }
        return withUnsafeMutablePointer(to: &answer) { answer in
            SSL_CTX_set_default_passwd_cb_userdata(context, answer)
            return SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM) == 1
        }
    }

    // MARK: PKCS #12

    private func openContainer() throws(ClientCertificateError) {
        guard let container = Self.container(certificate.file) else { throw .notAContainer }
        defer { PKCS12_free(container) }
        var (key, x509): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        defer {
            EVP_PKEY_free(key)
            X509_free(x509)
        }
        guard PKCS12_parse(container, certificate.password?.reveal(), &key, &x509, nil) == 1 else {
            let reasons = Self.takeReasons()
            if reasons.has(ERR_LIB_PKCS12, PKCS12_R_MAC_VERIFY_FAILURE) {
                throw certificate.password == nil ? .needsPassword : .wrongPassword
            }
            let isOld = reasons.list.contains { $0.reason == openssl_reason_unsupported() }
            throw isOld ? .oldContainer : .refused(reasons.text)
        }
        guard key != nil else { throw .noKey }
        guard x509 != nil else { throw .noCertificate(isContainer: false) }
        guard SSL_CTX_use_certificate(context, x509) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw .refused(Self.takeReasons().text)
        }
    }

    private static func container(_ file: String) -> OpaquePointer? {
        defer { ERR_clear_error() }
        guard let input = BIO_new_file(file, "rb") else { return nil }
        defer { BIO_free(input) }
        return d2i_PKCS12_bio(input, nil)
    }

    // MARK: OpenSSL's errors

    private struct Reasons {
        /// In the order in which they happened: the first one is the cause.
        var list: [(library: Int32, reason: Int32)] = []
        var text = "no reason given"

        func has(_ library: Int32, _ reason: Int32) -> Bool { list.contains { $0 == (library, reason) } }
    }

    /// Takes the reasons out of this thread's queue (`ERR_get_error(3)`).
    private static func takeReasons() -> Reasons {
        var reasons = Reasons()
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return reasons }
            if reasons.list.isEmpty, let text = ERR_reason_error_string(code) { reasons.text = String(cString: text) }
            reasons.list.append((ERR_GET_LIB(code), ERR_GET_REASON(code)))
        }
    }
}
