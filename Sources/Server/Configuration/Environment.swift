// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Configuration
import Glibc

/// Environment variables: those of this process, or given ones.
package struct Environment: Sendable {
    package static let process = Environment(variables: nil)

    /// nil: those of this process.
    private let variables: [String: String]?

    init(_ variables: [String: String]) {
        self.init(variables: variables)
    }

    private init(variables: [String: String]?) {
        self.variables = variables
    }

    package subscript(name: String) -> String? {
        if let variables { return variables[name] }
        return getenv(name).map { String(cString: $0) }
    }

    /// What variables of the configuration begin with.
    private static let prefix = "APP_BACKEND_"

    /// Reads `APP_BACKEND_HUB_NAME` for the key `hub.name`. Nil where no variable begins so: a search for each key is half of
    /// what reading a configuration costs. All are taken for secrets, so that the library prints none.
    var provider: (any ConfigProvider)? {
        let hasAny = variables?.keys.contains { $0.hasPrefix(Self.prefix) } ?? platform_has_variable(Self.prefix)
        guard hasAny else { return nil }
        let provider =
            variables.map { EnvironmentVariablesProvider(environmentVariables: $0, secretsSpecifier: .all) }
            ?? EnvironmentVariablesProvider(secretsSpecifier: .all)
        return provider.prefixKeys(with: "appBackend")
    }
}
