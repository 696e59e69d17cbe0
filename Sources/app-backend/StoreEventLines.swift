// SPDX-License-Identifier: Apache-2.0
import Logging
import Store

extension Logger {
    /// Writes a line of what the store tells, at the level that it deserves.
    func log(_ event: StoreEvent) {
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

extension Terminal {
    /// Complains of what the store tells, where it is trouble: whoever calls a command did not ask how the store tidies
    /// itself.
    static func complain(of event: StoreEvent) {
        switch event.weight {
        case .detail, .note: return
        case .trouble, .failure: complain("store: \(event)")
        }
    }
}
