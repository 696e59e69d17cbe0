// SPDX-License-Identifier: Apache-2.0
import AppBackend

/// Who a request's user is: `auth.*`.
extension SiteConfiguration {
    /// `auth.method`: a short word for a list of methods.
    private enum ShortForm: String, CaseIterable {
        case users, test

        var methods: [AuthenticationMethod] {
            switch self {
            case .users: SiteConfiguration().authenticationMethods
            case .test: [.test, .session]
            }
        }
    }

    static let methodSettings: [Setting] = [
        Setting(
            "auth.methods", .list(of: AuthenticationMethod.allCases.map(\.rawValue)),
            "How the service [authenticates requests](../operate/users-and-permissions.md#authentication-methods)."
        ) {
            .list($0.authenticationMethods.map(\.rawValue))
        },
        Setting(
            "auth.method", .choice(ShortForm.allCases.map(\.rawValue)), default: "none",
            """
            Short form: `users` is the default of `auth.methods`, and `test` is `["test", "session"]`, which logs a \
            warning at every start. Set only one of the two keys.
            """),
        .text("auth.realm", \.realm, "Text that clients show when they ask for a password.") { realm in
            realm.utf8.contains { $0 < 0x20 || $0 > 0x7E || $0 == UInt8(ascii: "\"") || $0 == 0x5C }
                ? "must be printable ASCII without quotation marks and backslashes" : nil
        },
    ]

    mutating func readAuthentication(_ reading: inout ConfigurationReading) {
        let short: ShortForm? = reading.choice("auth.method")
        if let short { authenticationMethods = short.methods }
        let names = reading.list("auth.methods")
        if let names {
            if short != nil { reading.fault("auth.method", "says the same as auth.methods: leave one of them out") }
            readMethods(names, &reading)
        }
        readIssuers(isListed: names != nil, &reading)
    }

    private mutating func readMethods(_ names: [String], _ reading: inout ConfigurationReading) {
        let methods = names.compactMap { AuthenticationMethod(rawValue: $0.lowercased()) }
        if methods.isEmpty || methods.count != names.count || Set(methods).count != methods.count {
            let all = AuthenticationMethod.allCases.map(\.rawValue).joined(separator: ", ")
            reading.fault("auth.methods", "must be a list out of \(all), each of them once")
        } else if methods.contains(.password), methods.contains(.test) {
            reading.fault("auth.methods", "must not hold both password and test: each decides who is a user")
        } else if methods.contains(.token), methods.contains(.test) {
            reading.fault("auth.methods", "must not hold both token and test: a token would outlive the test's users")
        } else if methods.contains(.session), !methods.contains(.password), !methods.contains(.test) {
            reading.fault("auth.methods", "session also requires password or test: add one of them")
        } else if methods.contains(.webServer), let listen, !listen.hasPrefix("/") {
            reading.fault(Self.webServerOnPort.key, Self.webServerOnPort.reason)
        } else {
            authenticationMethods = methods
        }
    }

    private static let webServerOnPort = ConfigurationFault(
        key: "auth.methods", reason: "web-server is not for a port, where each process of the host could say who it is")

    /// For a site that listens on a port.
    /// - Throws: `ConfigurationFault`.
    func requireMethodsForPort() throws(ConfigurationFault) {
        if authenticationMethods.contains(.webServer) { throw Self.webServerOnPort }
    }

    /// To trust an issuer is enough; a list of methods has to name its tokens.
    /// - Parameter isListed: whether there is such a list.
    private mutating func readIssuers(isListed: Bool, _ reading: inout ConfigurationReading) {
        guard readIssuers(&reading) else {
            if authenticationMethods.contains(.bearer) { reading.fault("auth.methods", "bearer needs auth.issuers") }
            return
        }
        if authenticationMethods.contains(.test) {
            reading.fault(Self.issuerGroup, "must not be beside the method test, which takes any name for a user")
        } else if isListed, !authenticationMethods.contains(.bearer) {
            reading.fault(Self.issuerGroup, "is of no use: auth.methods has no bearer")
        } else if !isListed {
            authenticationMethods.append(.bearer)
        }
    }
}
