// SPDX-License-Identifier: Apache-2.0

/// Why a file is no key for APNs. It never repeats anything of the file.
package enum APNsKeyError: String, Error, Sendable, CustomStringConvertible {
    case notPEM = "the key is not a PEM file: Apple's key file (.p8) begins with -----BEGIN PRIVATE KEY-----"
    case encrypted = "the key is encrypted: decrypt it with openssl pkcs8"
    case publicKey = "this is a public key: APNs needs the private key of Apple's key file (.p8)"
    case certificate = "this is a certificate, not a key: name it as the certificate file"
    case pkcs1 = "this is an RSA key in PKCS #1 form: Apple's key file (.p8) holds a P-256 key in PKCS #8 form"
    case sec1 = "the key is in SEC 1 form (BEGIN EC PRIVATE KEY): convert it with openssl pkcs8 -topk8 -nocrypt"
    case notEllipticCurve = "the key is not an elliptic-curve key: Apple's key file (.p8) holds a P-256 key"
    case otherCurve = "the key is of another curve than P-256"
    case damaged = "the key file is damaged: no P-256 key can be read from it"
    case badKeyID = "the key id must be 10 capital letters and digits"
    case badTeamID = "the team id must be 10 capital letters and digits"

    package var description: String { rawValue }
}
