// SPDX-License-Identifier: Apache-2.0
import Store

/// The schema's history. The tables that a step makes are never changed, only added to: databases out there are made of it.
///
/// No extensions, which a role that owns only its database may not add.
enum Migrations {
    /// Version 1 is the first; each is the statements that lead to it from the one before.
    static let all: [[String]] = [
        schemaVersion1, removedUsers, deviceAliases, secureOnlyUsers, sendersAndUnusedIDs, scheduledMessages,
        appTokens, plainMessages, userRoles, sentMessages,
        webhookEvents, scheduledSends, seenUsers, messagesOfSends, creationSequences, goneDevices, recipientOwners,
        servedNamespace, ownersOfWaiting, namespacedRegistrations, removedRegistrations,
    ]

    static var newest: Int { all.count }

    /// Of bytes, so that names are compared byte by byte; times are seconds since 1970, by the callers' clocks.
    /// `removed_at` is by the database's clock: a removed record counts on for a while, should it be made again.
    private static let schemaVersion1 = [
        """
        CREATE TABLE users (
            name bytea PRIMARY KEY, password_hash bytea NOT NULL, tags text, send_to text, version bigint NOT NULL,
            removed_at timestamptz)
        """,
        "CREATE INDEX users_removed ON users (removed_at) WHERE removed_at IS NOT NULL",

        """
        CREATE TABLE notifications (
            owner bytea NOT NULL, id bigint NOT NULL, token bytea NOT NULL, payload bytea NOT NULL,
            is_read boolean NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (owner, id))
        """,
        "CREATE INDEX notifications_token ON notifications (owner, token)",
        "CREATE INDEX notifications_expiry ON notifications (expires_at)",

        """
        CREATE TABLE devices (
            id bytea PRIMARY KEY, owner bytea NOT NULL, platform bytea NOT NULL, handle bytea NOT NULL,
            tags text NOT NULL, installation_id bytea, is_pending boolean NOT NULL, updated_at bigint NOT NULL,
            version bigint NOT NULL, removed_at timestamptz)
        """,
        "CREATE INDEX devices_owner ON devices (owner) WHERE removed_at IS NULL",
        "CREATE INDEX devices_removed ON devices (removed_at) WHERE removed_at IS NOT NULL",

        """
        CREATE TABLE sessions (
            id bytea PRIMARY KEY, owner bytea NOT NULL, binding bytea NOT NULL, created_at bigint NOT NULL,
            expires_at bigint NOT NULL)
        """,
        "CREATE INDEX sessions_owner ON sessions (owner, created_at, id)",
        "CREATE INDEX sessions_expiry ON sessions (expires_at)",

        """
        CREATE TABLE sent (
            owner bytea NOT NULL, id bytea NOT NULL, remembered_at timestamptz NOT NULL, place bigint NOT NULL,
            expires_at bigint NOT NULL, PRIMARY KEY (owner, id))
        """,
        "CREATE INDEX sent_order ON sent (owner, remembered_at, place)",
        "CREATE INDEX sent_expiry ON sent (expires_at)",

        """
        CREATE TABLE idempotent_requests (
            owner bytea NOT NULL, key bytea NOT NULL, fingerprint bytea NOT NULL, status bigint, content_type bytea,
            body bytea, created_at bigint NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (owner, key))
        """,
        "CREATE INDEX idempotent_requests_order ON idempotent_requests (owner, created_at, key)",
        "CREATE INDEX idempotent_requests_expiry ON idempotent_requests (expires_at)",

        """
        CREATE TABLE hub_registrations (
            id bytea PRIMARY KEY, channel bytea NOT NULL, channel_start bytea NOT NULL, tags text NOT NULL,
            description text NOT NULL, updated_at bigint NOT NULL, version bigint NOT NULL, removed_at timestamptz)
        """,
        "CREATE INDEX hub_registrations_channel ON hub_registrations (channel_start) WHERE removed_at IS NULL",
        "CREATE INDEX hub_registrations_removed ON hub_registrations (removed_at) WHERE removed_at IS NOT NULL",
        """
        CREATE TABLE hub_registration_tags (
            tag bytea NOT NULL, registration_id bytea NOT NULL, PRIMARY KEY (tag, registration_id))
        """,
        "CREATE INDEX hub_registration_tags_id ON hub_registration_tags (registration_id)",

        """
        CREATE TABLE hub_messages (
            id bytea PRIMARY KEY, document text NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL)
        """,
        "CREATE INDEX hub_messages_expiry ON hub_messages (expires_at)",

        """
        CREATE TABLE hub_queue (
            id bytea PRIMARY KEY, document text NOT NULL, bytes bigint NOT NULL, created_at bigint NOT NULL,
            expires_at bigint NOT NULL, queued_at timestamptz NOT NULL)
        """,
        "CREATE INDEX hub_queue_order ON hub_queue (created_at, queued_at, id)",
        "CREATE INDEX hub_queue_expiry ON hub_queue (expires_at)",
        // How much was ever put in, and how much waits, in parts: who puts something in changes one of them, so that
        // few have to wait for each other.
        """
        CREATE TABLE hub_queue_totals (
            part bigint PRIMARY KEY, puts bigint NOT NULL, messages bigint NOT NULL, bytes bigint NOT NULL)
        """,
        "INSERT INTO hub_queue_totals SELECT part, 0, 0, 0 FROM generate_series(0, 63) AS parts (part)",

        """
        CREATE TABLE hub_turns (
            name text PRIMARY KEY, holder bytea NOT NULL, token bigint NOT NULL, expires_at timestamptz NOT NULL)
        """,
        "INSERT INTO hub_turns VALUES ('delivery', '', 0, '1970-01-01T00:00:00Z')",
    ]

    /// A user who was removed stays as a row whose `ended_at` is set, so that the next user of the name is another owner.
    /// `upkeep` is the JSON of what is left to be done, `work_due_at` the time at which it is to be done next.
    private static let removedUsers = [
        """
        ALTER TABLE users ADD COLUMN generation bigint NOT NULL DEFAULT 0, ADD COLUMN ended_at bigint,
            ADD COLUMN keeps_data boolean NOT NULL DEFAULT false, ADD COLUMN upkeep text,
            ADD COLUMN work_due_at bigint, ADD COLUMN last_log_in_at bigint
        """,
        "CREATE INDEX users_work ON users (work_due_at) WHERE work_due_at IS NOT NULL",
    ]

    private static let secureOnlyUsers = [
        "ALTER TABLE users ADD COLUMN is_secure_only boolean NOT NULL DEFAULT false"
    ]

    private static let userRoles = ["ALTER TABLE users ADD COLUMN roles text"]

    /// Message objects, each as the JSON that an export has of it, and who has opened them.
    private static let sentMessages = [
        """
        CREATE TABLE messages (
            id bytea PRIMARY KEY, owner bytea NOT NULL, sent_at bigint NOT NULL, document text NOT NULL,
            expires_at bigint NOT NULL)
        """,
        "CREATE INDEX messages_owner ON messages (owner, sent_at, id)",
        "CREATE INDEX messages_order ON messages (sent_at, id)",
        "CREATE INDEX messages_expiry ON messages (expires_at)",
        """
        CREATE TABLE openings (
            message bytea NOT NULL, opener bytea NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (message, opener))
        """,
        "CREATE INDEX openings_expiry ON openings (expires_at)",
    ]

    /// Events that wait for webhooks, and the right to deliver them.
    private static let webhookEvents = [
        """
        CREATE TABLE webhook_events (
            id bytea PRIMARY KEY, document text NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL)
        """,
        "CREATE INDEX webhook_events_order ON webhook_events (created_at, id)",
        "CREATE INDEX webhook_events_expiry ON webhook_events (expires_at)",
        "INSERT INTO hub_turns VALUES ('webhooks', '', 0, '1970-01-01T00:00:00Z')",
    ]

    /// Users' messages for later, and the right to send them.
    private static let scheduledSends = [
        """
        CREATE TABLE scheduled_sends (
            id bytea PRIMARY KEY, document text NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL)
        """,
        "CREATE INDEX scheduled_sends_order ON scheduled_sends (created_at, id)",
        "CREATE INDEX scheduled_sends_expiry ON scheduled_sends (expires_at)",
        "INSERT INTO hub_turns VALUES ('scheduled sends', '', 0, '1970-01-01T00:00:00Z')",
    ]

    /// When users without a record were authenticated last.
    private static let seenUsers = [
        "CREATE TABLE seen_users (id bytea PRIMARY KEY, seen_at bigint NOT NULL, expires_at bigint NOT NULL)",
        "CREATE INDEX seen_users_expiry ON seen_users (expires_at)",
    ]

    /// The message that is forgotten with a send.
    private static let messagesOfSends = ["ALTER TABLE sent ADD COLUMN message bytea"]

    /// The order of what was made in one second, by the callers' clocks. A process of an older version, which may run until it
    /// is replaced, goes on with 0.
    private static let creationSequences = [
        "ALTER TABLE notifications ADD COLUMN sequence bigint NOT NULL DEFAULT 0",
        "ALTER TABLE messages ADD COLUMN sequence bigint NOT NULL DEFAULT 0",
        "DROP INDEX messages_owner",
        "CREATE INDEX messages_owner ON messages (owner, sent_at, sequence, id)",
        "DROP INDEX messages_order",
        "CREATE INDEX messages_order ON messages (sent_at, sequence, id)",
    ]

    /// Devices that their push services called gone, until they are forgotten.
    private static let goneDevices = [
        "ALTER TABLE devices ADD COLUMN gone_at bigint, ADD COLUMN gone_reason bytea",
        "CREATE INDEX devices_gone ON devices (gone_at) WHERE gone_at IS NOT NULL AND removed_at IS NULL",
    ]

    /// The owners of the users to whom an app token may send; NULL in tokens of before, until they are used.
    private static let recipientOwners = ["ALTER TABLE app_tokens ADD COLUMN recipient_owners text"]

    /// Registrations without a device were made by keys of the served hub, and get the ids, channels and tags of its namespace
    /// (`HubRegistration.movedToServed`). Those of removed devices stay for the sweep, which removes them.
    static let servedNamespace = [
        """
        WITH served AS (
            SELECT id FROM hub_registrations AS r WHERE removed_at IS NULL AND substring(id FROM 1 FOR 1) <> '~'::bytea
                AND NOT EXISTS (SELECT 1 FROM devices AS d WHERE d.id = r.id)),
        moved AS (
            UPDATE hub_registration_tags SET tag = '~'::bytea || tag, registration_id = '~'::bytea || registration_id
            WHERE registration_id IN (SELECT id FROM served))
        UPDATE hub_registrations SET id = '~'::bytea || id, channel = '~'::bytea || channel,
            channel_start = substring('~'::bytea || channel_start FROM 1 FOR 1000),
            tags = (SELECT coalesce(json_agg('~' || tag), '[]') FROM json_array_elements_text(tags::json) AS each (tag))
        WHERE id IN (SELECT id FROM served)
        """
    ]

    /// Whether a version that knows namespaces has written a registration. A process of an older version, which may run until it
    /// is replaced, leaves the default; then the sweep looks for the device (`HubRegistration.needsNamespace`).
    static let namespacedRegistrations = [
        "ALTER TABLE hub_registrations ADD COLUMN is_namespaced boolean NOT NULL DEFAULT true",
        "ALTER TABLE hub_registrations ALTER COLUMN is_namespaced SET DEFAULT false",
        """
        UPDATE hub_registrations AS r SET is_namespaced = false
        WHERE removed_at IS NULL AND substring(id FROM 1 FOR 1) <> '~'::bytea
            AND NOT EXISTS (SELECT 1 FROM devices AS d WHERE d.id = r.id AND d.removed_at IS NULL)
        """,
        """
        CREATE INDEX hub_registrations_namespace ON hub_registrations (id)
        WHERE NOT is_namespaced AND removed_at IS NULL
        """,
    ]

    /// A process of an older version, which makes a removed registration again, leaves the column as it is.
    static let removedRegistrations = [
        "UPDATE hub_registrations SET is_namespaced = false WHERE removed_at IS NOT NULL"
    ]

    private static let deviceAliases = ["ALTER TABLE devices ADD COLUMN alias bytea"]

    /// Messages that wait for their time, in a table of their own: a process of an older version, which may run until it is
    /// replaced, would deliver at once whatever is in `hub_queue`. They are moved there when they are due.
    private static let scheduledMessages = [
        """
        CREATE TABLE hub_scheduled (
            id bytea PRIMARY KEY, document text NOT NULL, bytes bigint NOT NULL, created_at bigint NOT NULL,
            not_before bigint NOT NULL, expires_at bigint NOT NULL)
        """,
        "CREATE INDEX hub_scheduled_order ON hub_scheduled (not_before, id)",
        "CREATE INDEX hub_scheduled_expiry ON hub_scheduled (expires_at)",
        "ALTER TABLE hub_queue_totals ADD COLUMN scheduled_bytes bigint NOT NULL DEFAULT 0",
        "ALTER TABLE hub_queue ADD COLUMN not_before bigint",
        "DROP INDEX hub_queue_order",
        "CREATE INDEX hub_queue_order ON hub_queue ((coalesce(not_before, created_at)), queued_at, id)",
    ]

    /// Tokens, and what ends them: a user who is disabled or whose time is over, and the count of such ends.
    private static let appTokens = [
        """
        CREATE TABLE app_tokens (
          id bytea PRIMARY KEY, hash bytea NOT NULL, owner bytea NOT NULL, epoch bigint NOT NULL, scopes text NOT NULL,
          recipients text, label bytea NOT NULL, created_at bigint NOT NULL, expires_at bigint, last_used_at bigint)
        """,
        "CREATE INDEX app_tokens_owner ON app_tokens (owner, created_at, id)",
        "CREATE INDEX app_tokens_expiry ON app_tokens (expires_at)",
        """
        ALTER TABLE users ADD COLUMN credential_epoch bigint NOT NULL DEFAULT 0, ADD COLUMN disabled_at bigint,
          ADD COLUMN expires_at bigint
        """,
    ]

    /// Plain messages beside the secure ones.
    private static let plainMessages = [
        "ALTER TABLE notifications ADD COLUMN is_plain boolean NOT NULL DEFAULT false"
    ]

    /// Who left a notification, empty where it is not known, and what it counts against the quotas. Ids that were handed out
    /// and not used are looked for by their age.
    private static let sendersAndUnusedIDs = [
        "ALTER TABLE notifications ADD COLUMN sender bytea NOT NULL DEFAULT ''",
        "ALTER TABLE notifications ADD COLUMN size bigint",
        "CREATE INDEX devices_unused ON devices (updated_at) WHERE platform = '' AND removed_at IS NULL",
    ]

    /// In whose share what waits counts; empty: in no user's, or a process of an older version, which may run until it is
    /// replaced, has written it.
    private static let ownersOfWaiting =
        ["hub_queue", "hub_scheduled", "hub_messages", "webhook_events", "scheduled_sends"].map {
            "ALTER TABLE \($0) ADD COLUMN owner bytea NOT NULL DEFAULT ''"
        } + ["CREATE INDEX hub_queue_owner ON hub_queue (owner)"]
        + ["webhook_events", "scheduled_sends"].map { "CREATE INDEX \($0)_owner ON \($0) (owner, created_at, id)" }
}
