// SPDX-License-Identifier: Apache-2.0
import Crypto
import DeviceAPI
import HTTP
import Text

/// What the store gets of a request with an `Idempotency-Key`: enough to know it again, and nothing to read in it.
enum RequestFingerprint {
    /// A hash, because a key may be anything: the number of an order, or of a person.
    static func name(of key: IdempotencyKey) -> String {
        Base64.url.encode(SHA256.hash(data: Array(key.text.utf8)))
    }

    /// A MAC of all that decides what the request does. Under the key, which is not stored: messages are short, and from
    /// a hash alone one could find them by trying. Every part is preceded by its length, so no two requests run together.
    /// - Parameters:
    ///   - route: in place of the path, which may be spelled in more ways than one.
    ///   - limit: the only users that the request may be sent to: what its user's other requests were answered is not for one that may
    ///     do less. Nil: those that its user may send to.
    /// - Throws: `Query.Malformed`.
    static func make(
        _ request: Request, route: String, limit: NamedOwners?, key: IdempotencyKey
    ) throws(Query.Malformed) -> String {
        let query = try Query(request.query).canonical
        // No method and no owner has a blank.
        let method = ([request.method.rawValue] + (limit?.owners.values.sorted() ?? [])).joined(separator: " ")
        let parts = [method, route] + query.flatMap { [$0.name, $0.value] }
        var mac = HMAC<SHA256>(key: SymmetricKey(data: Array(key.text.utf8)))
        for part in parts.map({ Array($0.utf8) }) + [request.body] {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { mac.update(data: $0) }
            mac.update(data: part)
        }
        return Base64.url.encode(mac.finalize())
    }
}
