// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import JSON

/// Keys for one run of the tests.
enum Keys {
    static let rsa = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    /// A credential file of a service account.
    static func serviceAccount(_ changes: [String: JSONValue] = [:], without missing: String? = nil) -> [UInt8] {
        var members: [(String, JSONValue)] = [
            ("type", .string("service_account")), ("project_id", .string("app-1")),
            ("private_key_id", .string("key-1")),
            ("private_key", .string(rsa?.pkcs8PEMRepresentation ?? "")),
            ("client_email", .string("push@app-1.iam.gserviceaccount.com")),
            ("token_uri", .string("https://oauth2.googleapis.com/token")),
            ("universe_domain", .string("googleapis.com")),
        ]
        for (name, value) in changes {
            members.removeAll { $0.0 == name }
            members.append((name, value))
        }
        return json(members.filter { $0.0 != missing })
    }

    /// A credential file of workload identity federation.
    static func externalAccount(source: JSONValue, _ changes: [String: JSONValue] = [:]) -> [UInt8] {
        let members: [(String, JSONValue)] = [
            ("type", .string("external_account")), ("audience", .string("//iam.googleapis.com/projects/1/p")),
            ("subject_token_type", .string("urn:ietf:params:oauth:token-type:jwt")),
            ("token_url", .string("https://sts.googleapis.com/v1/token")), ("credential_source", source),
            ("project_id", .string("app-1")),
        ]
        return json(members.filter { changes[$0.0] == nil } + changes.map { ($0.key, $0.value) })
    }

    private static func json(_ members: [(String, JSONValue)]) -> [UInt8] {
        var json = JSONWriter()
        json.value(.object(members.map { JSONValue.Member($0.0, $0.1) }))
        return json.bytes
    }
}
