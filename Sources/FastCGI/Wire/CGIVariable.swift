// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Text

/// What a CGI variable (RFC 3875 section 4.1) means to us, found by its name's bytes.
enum CGIVariable: Equatable {
    case method, requestURI, scriptName, pathInfo, queryString
    case contentType, contentLength
    case remoteAddress, requestScheme, https, host, serverName, serverPort
    case requestID, redirectedAuthorization
    /// Ours: the prefix of the contract's paths, where the web server serves other things under the same name.
    case pathPrefix
    /// Ours: the user whom the web server has authenticated. A client's field of the name has `HTTP_` before it.
    case authenticatedUser
    case field(HTTPField.Name)
    /// A variable that this server does not read.
    case ignored

    /// The meaning of a name; a request field for any other `HTTP_` name that is legal.
    init(name: UnsafeBufferPointer<UInt8>) {
        if name.count < Self.byLength.count {
            for known in Self.byLength[name.count] where name.elementsEqual(known.name) {
                self = known.variable
                return
            }
        }
        self = Self.fieldName(name).map(CGIVariable.field) ?? .ignored
    }

    private static let prefix = [UInt8]("HTTP_".utf8)

    /// `HTTP_X_TRACE` is `x-trace`; nil for a name without the prefix or with a byte that a CGI name does not have.
    private static func fieldName(_ name: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        guard name.count > prefix.count, name.starts(with: prefix) else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(name.count)
        for byte in name.dropFirst(prefix.count) {
            switch byte {
            case UInt8(ascii: "_"): text.append(UInt8(ascii: "-"))
            case _ where ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-"): text.append(ASCII.lowercased(byte))
            default: return nil
            }
        }
        return HTTPField.Name(parsed: String(decoding: text, as: UTF8.self))
    }

    private typealias Known = (name: [UInt8], variable: CGIVariable)

    /// The known names, those of one length together. `HTTP_PROXY` is not a field: outbound HTTP libraries take it from
    /// the environment for their proxy (httpoxy, CVE-2016-5385). Length and type of the body are CGI's own variables.
    private static let byLength: [[Known]] = {
        let variables: [(String, CGIVariable)] = [
            ("REQUEST_METHOD", .method), ("REQUEST_URI", .requestURI), ("SCRIPT_NAME", .scriptName),
            ("PATH_INFO", .pathInfo), ("QUERY_STRING", .queryString), ("CONTENT_TYPE", .contentType),
            ("CONTENT_LENGTH", .contentLength), ("REMOTE_ADDR", .remoteAddress), ("REQUEST_SCHEME", .requestScheme),
            ("HTTPS", .https), ("HTTP_HOST", .host), ("SERVER_NAME", .serverName), ("SERVER_PORT", .serverPort),
            ("REQUEST_ID", .requestID), ("REDIRECT_HTTP_AUTHORIZATION", .redirectedAuthorization),
            ("APP_BACKEND_PREFIX", .pathPrefix), ("APP_BACKEND_USER", .authenticatedUser),
            ("HTTP_PROXY", .ignored), ("HTTP_CONTENT_TYPE", .ignored), ("HTTP_CONTENT_LENGTH", .ignored),
            ("HTTP_CONNECTION", .ignored), ("HTTP_KEEP_ALIVE", .ignored), ("HTTP_TRANSFER_ENCODING", .ignored),
        ]
        let fields: [HTTPField.Name] = [
            .accept, .acceptEncoding, .acceptLanguage, .authorization, .cacheControl, .cookie, .ifMatch,
            .ifModifiedSince, .ifNoneMatch, .origin, .referer, .userAgent,
        ]
        let all = variables + fields.map { (variableName($0), .field($0)) }
        var table = [[Known]](repeating: [], count: 1 + (all.map(\.0.utf8.count).max() ?? 0))
        for (name, variable) in all { table[name.utf8.count].append(([UInt8](name.utf8), variable)) }
        return table
    }()

    private static func variableName(_ field: HTTPField.Name) -> String {
        "HTTP_" + String(field.canonicalName.uppercased().map { $0 == "-" ? "_" : $0 })
    }
}
