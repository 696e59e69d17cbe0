// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import PostgresStore
import Store
import Support

/// Where a site's store is.
enum SitePlace: CaseIterable {
    case files, database

    /// - Parameter folder: of the files.
    func open(_ folder: String, queueBytes: Int = Quotas().queueBytes) throws -> any SiteStore {
        switch self {
        case .files:
            var options = FileSiteStore.Options.patient
            options.quotas.queueBytes = queueBytes
            return try FileSiteStore.open(path: folder, options: options)
        case .database:
            let url = try PostgresServer.shared.get().makeDatabase()
            _ = try PostgresSiteStore.migrate(url: url)
            var options = PostgresSiteStore.Options()
            options.quotas.queueBytes = queueBytes
            return try PostgresSiteStore.open(url: url, options: options)
        }
    }
}
