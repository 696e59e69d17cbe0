// SPDX-License-Identifier: Apache-2.0
import FileStore
import PostgresStore
import Store

/// Where a store is: a folder, or a database of that URL.
enum Place {
    /// Of a call to a database. Its speed does not matter here, and a busy machine may stop any process for a minute.
    private static let timeout = Duration.seconds(240)

    case folder(String)
    case database(String)

    init(_ word: String) {
        self = word.hasPrefix("postgresql://") ? .database(word) : .folder(word)
    }

    /// - Parameter options: of a store in files; one in a database has the quotas of it.
    func open(_ options: FileSiteStore.Options) throws(StoreError) -> any SiteStore {
        switch self {
        case .folder(let path): return try FileSiteStore.open(path: path, options: options)
        case .database(let url):
            var inDatabase = PostgresSiteStore.Options()
            inDatabase.quotas = options.quotas
            inDatabase.timeout = Self.timeout
            return try PostgresSiteStore.open(url: url, options: inDatabase)
        }
    }
}

extension FileSiteStore.Options {
    /// Without quotas: nothing is forgotten but what was removed. With deadlines that only what hangs comes to: on a busy
    /// machine any process may stand still for seconds, also while it has a lock that others wait for.
    static var unlimited: Self {
        var options = Self()
        (options.lockTimeout, options.firstOpeningTimeout) = (.seconds(120), .seconds(120))
        // Files are small in tests, and their indexes are to be tried anyway.
        options.indexedFileBytes = 0
        options.quotas.notificationsPerOwner = .max
        options.quotas.notificationBytesPerOwner = .max
        options.quotas.devicesPerOwner = .max
        options.quotas.sessionsPerOwner = .max
        options.quotas.queueBytes = .max
        (options.quotas.scheduledBytes, options.quotas.scheduledSeconds) = (.max, .max)
        options.quotas.idempotencyKeysPerOwner = .max
        return options
    }
}
