// SPDX-License-Identifier: Apache-2.0
// Uses what DeviceClient has for Apple's systems, on Linux, with the stand-ins for Security and UserNotifications. One line for each
// check; test_apple_systems.py reads them.
import DeviceClient
import Foundation
import Security
import UserNotifications

/// - Parameter body: nil when all is well, else what is not.
func check(_ name: String, _ body: () async throws -> String?) async {
    let fault: String?
    do {
        fault = try await body()
    } catch {
        fault = "\(error)"
    }
    print(fault.map { "✘ \(name): \($0)" } ?? "✔ \(name)")
}

func expect(_ condition: Bool, _ fault: String) -> String? { condition ? nil : fault }

await checkKeychain()
await checkService()
