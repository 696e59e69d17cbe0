// SPDX-License-Identifier: Apache-2.0
import PostgresStore
import Store

/// Where a store is: a folder, or a database of that URL.
enum Place {
    case folder(String)
    case database(String)

    init(_ word: String) {
        self = word.hasPrefix("postgresql://") ? .database(word) : .folder(word)
    }

    /// - Parameter options: of a store in files; one in a database has no caps either.
    func open(_ options: FileStore.Options) throws(StoreError) -> any SiteStore {
        switch self {
        case .folder(let path): try FileStore.open(path: path, options: options)
        case .database(let url): try PostgresStore.open(url: url, options: .unlimited)
        }
    }
}

extension PostgresStore.Options {
    fileprivate static var unlimited: Self {
        var options = Self()
        options.notificationsPerOwner = .max
        options.notificationBytesPerOwner = .max
        options.devicesPerOwner = .max
        options.sessionsPerOwner = .max
        options.queueBytes = .max
        options.idempotencyKeysPerOwner = .max
        return options
    }
}
