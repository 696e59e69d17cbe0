// SPDX-License-Identifier: Apache-2.0
import Store

extension PostgresSiteStore {
    /// Changes no row, and is refused where nothing may be written: on a standby, and where the server, the database or
    /// the user is set to read only.
    private static let probe = Statement.writingOnce("health", "UPDATE hub_turns SET token = token WHERE name = ''")

    package func health() -> StoreHealth {
        do throws(StoreError) {
            try database.call(Self.probe, [])
            return .writable
        } catch {
            return error == .readOnly ? .readOnly : .unavailable
        }
    }
}
