// SPDX-License-Identifier: Apache-2.0
package import FileStore
package import Logging

extension Logger {
    /// Writes a line of what the store tells, at the level that it deserves.
    package func log(_ event: StoreEvent) {
        log(level: Level(event.weight), "store: \(event)")
    }
}

extension Logger.Level {
    fileprivate init(_ weight: StoreEvent.Weight) {
        self =
            switch weight {
            case .detail: .debug
            case .note: .notice
            case .trouble: .warning
            case .failure: .error
            }
    }
}
