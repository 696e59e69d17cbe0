// SPDX-License-Identifier: Apache-2.0
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

    /// All of them are taken for secrets, so that the library prints none.
    var provider: EnvironmentVariablesProvider {
        guard let variables else { return EnvironmentVariablesProvider(secretsSpecifier: .all) }
        return EnvironmentVariablesProvider(environmentVariables: variables, secretsSpecifier: .all)
    }
}
