// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store
import System
internal import Text

/// The store in flat JSON Lines files, durable and shared by several processes, without a daemon or a database.
///
/// `store.json` names the format; each table is a folder of files; people may read, grep and repair them. A line is
/// never half there, a write is flushed when its call returns, and a file is rewritten only under another name.
package final class FileSiteStore: SiteStore, Sendable {
    /// How a store behaves. The defaults are the product's; tests make everything small.
    package struct Options: Sendable {
        /// A bucket's file larger than this many bytes is compacted or split.
        package var bucketBytes = 128 << 10
        package var quotas = Quotas()
        /// How often the file of the queue, when it is full, is looked through for what may be dropped.
        package var queueTidyPause: Duration = .seconds(1)
        /// How long a write may wait for the lock of its bucket.
        package var lockTimeout: Duration = .seconds(5)
        /// A file that changed less than this before it was read is not remembered. Linux gives all changes between
        /// two ticks of its clock, which are at most 10 ms apart, the same time: the next one might not show.
        package var settlingTime: Duration = .milliseconds(20)
        /// How long the file of a bucket that was split stays beside the folder that took its place, for a program
        /// that was copying the store meanwhile. What has expired is on the disk for that much longer.
        package var splitFileLifetime: Duration = .seconds(30 * 60)
        /// How long opening a copy for the first time may wait until it is reindexed; whole seconds.
        package var firstOpeningTimeout: Duration = .seconds(20)
        /// Whether a store of an older format is brought to this version's; false for a process that only looks.
        package var migrates = true
        /// How long opening a store may wait while another process brings it to this version's format.
        package var migrationTimeout: Duration = .seconds(600)
        /// Is called with each step of a migration, and before this process waits for another one that migrates the store.
        package var onMigrating: @Sendable () -> Void = {}
        /// Of files of more bytes than these, a process that has read one remembers where its lines are.
        package var indexedFileBytes = 8 << 10
        /// Opens for reading only, also where writing would be possible.
        package var isReadOnly = false
        /// Hears what the operator should know. Called on the thread that found it, sometimes under a lock: be quick.
        package var onEvent: @Sendable (StoreEvent) -> Void = { _ in }
        /// The system calls that can lose data.
        package var calls = DiskCalls()
        /// As statfs(2): the magic number of the file system that holds the path, or -1.
        package var fileSystemType: @Sendable (_ path: String) -> Int = { platform_file_system_type($0) }

        package init() {}
    }

    let context: StoreContext
    let userTable: BucketTable
    let userCache = RecordCache<String, User>()
    /// Names that no user has. Apart, because anybody can ask for such, which must not displace the users.
    let absentUserCache = RecordCache<String, String>()
    let idleUserFiles = KnownFiles()
    let seenTable: BucketTable
    let notificationTable: BucketTable
    let notificationSummaries = BucketSummaries()
    let notificationCache = RecordCache<NotificationKey, SecureNotification>()
    let mailboxCache = RecordCache<String, KnownMailbox>()
    let deviceTable: IndexedTable<DeviceRecord>
    let ownerIndex: BucketTable
    let sessionTable: IndexedTable<Versioned<Session>>
    let sessionIndex: BucketTable
    let tokenTable: IndexedTable<Versioned<AppToken>>
    let tokenIndex: BucketTable
    let sentTable: BucketTable
    let sentMessageTable: BucketTable
    let openingTable: BucketTable
    let idempotencyTable: BucketTable
    let registrationTable: IndexedTable<HubRegistration>
    let channelIndex: BucketTable
    let tagIndex: BucketTable
    let messageTable: BucketTable
    let queueTable: BucketTable
    let webhookTable: BucketTable
    let sendTable: BucketTable
    let dueFiles: DueFiles
    let queueTally = Lock(WaitingTally())
    let webhookTally = Lock(WaitingTally())
    let sendTally = Lock(WaitingTally())
    let queueTidying = QueueTidying()
    let countedBacklog = CountedBacklog()
    let sweeper = SweepPosition()

    /// Opens the store in that folder; creates it (0700, files 0600) where there is none. A copy of a store is reindexed
    /// when it is opened for the first time.
    /// - Throws: `damaged`, when others may enter the folder, the format is unknown or `store.json` is missing beside
    ///   data; `readOnly`, when there is none and none can be made; `unavailable`.
    package static func open(path: String, options: Options = Options()) throws(StoreError) -> FileSiteStore {
        let (settings, isReadOnly) = try StoreFolder(path: path, calls: options.calls).open(
            readOnly: options.isReadOnly)
        guard let hash = SipHash(key: settings.salt) else {
            throw .damaged(detail: "store.json: \"salt\" is not 16 bytes")
        }
        let context = StoreContext(path: path, options: options, hash: hash, isReadOnly: isReadOnly)
        if !isReadOnly, let kind = RemoteFileSystem.kind(ofType: options.fileSystemType(path)) {
            context.report(.remoteFileSystem(kind: kind))
        }
        let store = try FileSiteStore(context)
        let now = Timestamp(seconds: Int64(time(nil)))
        if settings.format < StoreFolder.format, !isReadOnly {
            guard options.migrates else { return store }
            try store.migrate(now: now)
        }
        store.reindexIfCopied(now: now)
        return store
    }

    private init(_ context: StoreContext) throws(StoreError) {
        self.context = context
        func table(_ schema: TableSchema) throws(StoreError) -> BucketTable {
            try BucketTable(context, schema)
        }
        userTable = try table(.records(User.self, "users", key: "id", beginsWhole: true))
        seenTable = try table(.records(LastSeen.self, "seen", key: "id", beginsWhole: true, expires: true))
        notificationTable = try table(.notifications)
        let (channels, tags) = (
            try table(IndexEntry.schema("hub/channels", key: "channel")),
            try table(IndexEntry.schema("hub/tags", key: "tag"))
        )
        (channelIndex, tagIndex) = (channels, tags)
        (deviceTable, ownerIndex) = try Self.owned(context, "devices", index: "owners") { device, owners in
            [IndexEntry(table: owners, key: device.owner), device.goneEntry(channels)].compactMap(\.self)
        }
        (sessionTable, sessionIndex) = try Self.owned(context, "sessions", index: "session-owners", expires: true) {
            [IndexEntry(table: $1, key: $0.record.owner, expiresAt: $0.record.expiresAt)]
        }
        (tokenTable, tokenIndex) = try Self.owned(context, "tokens", index: "token-owners", expires: true) {
            [IndexEntry(table: $1, key: $0.record.owner, expiresAt: $0.record.expiresAt)]
        }
        let quotas = context.options.quotas
        let (messages, objects) = (try table(.hubMessages(quotas)), try table(.sentMessages(quotas)))
        (messageTable, sentMessageTable) = (messages, objects)
        openingTable = try table(.openings(quotas))
        // No user may ask the hub about a send that its sender's list does not have any more.
        var sent = TableSchema.sent(quotas)
        sent.onForgotten = { lines in
            let forgotten = lines.compactMap(SentNotification.init(line:))
            messages.forget(forgotten.map(\.id).filter { !NotificationNames.isToken($0) })
            objects.forget(forgotten.compactMap(\.forgottenMessage))
        }
        sentTable = try table(sent)
        idempotencyTable = try table(.records(IdempotentRequest.self, "idempotency", key: "owner", expires: true))
        registrationTable = IndexedTable(
            records: try table(.records(HubRegistration.self, "hub/registrations", key: "id"))
        ) { registration in
            [IndexEntry(table: channels, key: registration.channel)]
                + registration.tags.map { IndexEntry(table: tags, key: $0) }
        }
        queueTable = try table(.hubQueue)
        webhookTable = try table(.webhooks)
        sendTable = try table(.scheduledSends)
        dueFiles = try DueFiles(context)
        guard !context.isReadOnly else { return }
        // A table that begins as one file gets its folder from the first split, and must not have one before.
        let names = tables.filter { !$0.schema.beginsWhole }.map(\.schema.name) + [DueFiles.folder]
        try StoreFolder(path: context.path, calls: context.options.calls).makeFolders(names)
    }

    /// Records that are also found by their owner, and the index for that.
    private static func owned<Record: IndexedRecord>(
        _ context: StoreContext, _ name: String, index: String, expires: Bool = false,
        _ entries: @escaping @Sendable (Record, BucketTable) -> [IndexEntry]
    ) throws(StoreError) -> (IndexedTable<Record>, BucketTable) {
        let index = try BucketTable(context, IndexEntry.schema(index, key: "owner", expires: expires))
        let records = try BucketTable(context, .records(Record.self, name, key: "id", expires: expires))
        return (IndexedTable(records: records) { entries($0, index) }, index)
    }

    /// All tables that are always there, in the order in which they are swept. Behind them come those of `DueFiles`. First are
    /// those in which a process of an older version may have left registrations that hear users.
    var tables: [BucketTable] {
        [
            registrationTable.records, notificationTable, messageTable, userTable, deviceTable.records, ownerIndex,
            channelIndex, tagIndex, queueTable, sessionTable.records, sessionIndex, tokenTable.records,
            tokenIndex, sentTable, sentMessageTable, openingTable, idempotencyTable, webhookTable,
            sendTable, seenTable,
        ]
    }

    package func health() -> StoreHealth {
        do throws(StoreError) {
            try context.checkWritable()
            try StoreFolder(path: context.path).probe(context)
            return .writable
        } catch {
            return switch error {
            case .poisoned: .poisoned
            case .full: .full
            default: .readOnly
            }
        }
    }
}

extension BucketTable {
    /// Makes the table's lock file where it is missing.
    fileprivate convenience init(_ context: StoreContext, _ schema: TableSchema) throws(StoreError) {
        guard !context.isReadOnly else {
            self.init(context, schema, nil)
            return
        }
        let lockName = schema.name.split(separator: "/").joined(separator: "-")
        self.init(context, schema, try BucketLocks(context, name: "lock/" + lockName))
    }
}

extension TableSchema {
    fileprivate static var notifications: TableSchema {
        var schema = records(SecureNotification.self, "notifications", key: "owner", expires: true)
        (schema.erasesRemoved, schema.listsKeys) = (true, false)
        return schema
    }

    fileprivate static func hubMessages(_ quotas: Quotas) -> TableSchema {
        var schema = records(HubMessage.self, "hub/messages", key: "id", expires: true)
        (schema.maximumRecords, schema.sharesRecords) = (quotas.hubMessages, true)
        return schema
    }

    fileprivate static func sentMessages(_ quotas: Quotas) -> TableSchema {
        var schema = records(SentMessage.self, "messages", key: "id", expires: true)
        (schema.erasesRemoved, schema.maximumRecords) = (true, quotas.hubMessages)
        return schema
    }

    fileprivate static func openings(_ quotas: Quotas) -> TableSchema {
        var schema = records(MessageOpening.self, "openings", key: "message", expires: true)
        (schema.recordsPerKey, schema.maximumRecords) = (quotas.openersPerMessage, quotas.openings)
        return schema
    }

    fileprivate static func sent(_ quotas: Quotas) -> TableSchema {
        var schema = records(SentNotification.self, "sent", key: "owner", expires: true)
        schema.recordsPerKey = quotas.sentPerOwner
        return schema
    }

    /// The schema of a table of records.
    fileprivate static func records(
        _ type: (some LineRecord).Type, _ name: String, key: String, beginsWhole: Bool = false,
        expires: Bool = false
    ) -> TableSchema {
        TableSchema(name: name, key: key, beginsWhole: beginsWhole, expires: expires) { type.init(line: $0) != nil }
    }
}
