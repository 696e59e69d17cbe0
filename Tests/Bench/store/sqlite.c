// SPDX-License-Identifier: Apache-2.0
//
// SQLite as careful applications use it: write-ahead log, synchronous=FULL (a commit is on the disk when it returns),
// prepared statements, and a connection for each thread, which waits for its turn.
//
// With -DSHARED one connection for all threads, taken in turns: in one process they then do not have to look again and
// again whether the lock is free.
#include "peer.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 60000 };

struct connection {
    sqlite3 *database;
    sqlite3_stmt *insert, *find;
};

static int run(sqlite3 *database, const char *sql) { return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK; }

static sqlite3 *open_database(const char *place) {
    char path[4096];
    sqlite3 *database = NULL;
    snprintf(path, sizeof path, "%s/store.sqlite", place);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK || sqlite3_busy_timeout(database, WAIT_MS) != SQLITE_OK
        || !run(database, "PRAGMA journal_mode=WAL") || !run(database, "PRAGMA synchronous=FULL"))
        return NULL;
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    return statement;
}

static struct connection *connect_anew(const char *place) {
    struct connection *new = calloc(1, sizeof *new);
    if (new == NULL || (new->database = open_database(place)) == NULL) return NULL;
    new->insert = prepare(
        new->database, "INSERT INTO notifications(owner,id,token,payload,read,created_at,expires_at) VALUES(?,?,?,?,0,?,?)");
    new->find = prepare(
        new->database,
        "SELECT token,payload,read,created_at,expires_at FROM notifications WHERE owner=? AND id=? AND expires_at>?");
    return new->insert && new->find ? new : NULL;
}

static void close_one(struct connection *connection) {
    sqlite3_finalize(connection->insert);
    sqlite3_finalize(connection->find);
    sqlite3_close(connection->database);
    free(connection);
}

#ifdef SHARED
static struct connection *shared;
static int users;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

struct connection *store_connect(const char *place) {
    if (users++ == 0) shared = connect_anew(place);
    return shared;
}

void store_disconnect(struct connection *connection) {
    if (--users == 0) close_one(connection);
}

static void take_turn(void) { pthread_mutex_lock(&turn); }
static void end_turn(void) { pthread_mutex_unlock(&turn); }
#else
struct connection *store_connect(const char *place) { return connect_anew(place); }
void store_disconnect(struct connection *connection) { close_one(connection); }
static void take_turn(void) {}
static void end_turn(void) {}
#endif

static enum outcome insert(struct connection *connection, const struct record *record) {
    sqlite3_stmt *statement = connection->insert;
    sqlite3_bind_text(statement, 1, record->owner, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 2, record->id);
    sqlite3_bind_text(statement, 3, record->token, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, record->payload, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, record->created_at);
    sqlite3_bind_int64(statement, 6, record->expires_at);
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? DONE : code == SQLITE_CONSTRAINT ? TAKEN : FAILED;
}

enum outcome store_create(struct connection *connection, const struct record *record) {
    take_turn();
    enum outcome outcome = insert(connection, record);
    end_turn();
    return outcome;
}

int store_has(struct connection *connection, const char *owner, int32_t id, const char *payload) {
    take_turn();
    sqlite3_bind_text(connection->find, 1, owner, -1, SQLITE_STATIC);
    sqlite3_bind_int(connection->find, 2, id);
    sqlite3_bind_int64(connection->find, 3, 0);
    int found = sqlite3_step(connection->find) == SQLITE_ROW
        && strcmp((const char *)sqlite3_column_text(connection->find, 1), payload) == 0;
    sqlite3_reset(connection->find);
    end_turn();
    return found;
}

// WITHOUT ROWID: one tree instead of a table and its index, which is the faster of the two here.
int store_fill(const char *place, int (*next)(struct record *)) {
    sqlite3 *database = open_database(place);
    if (database == NULL
        || !run(database,
                "DROP TABLE IF EXISTS notifications;"
                "CREATE TABLE notifications(owner TEXT NOT NULL, id INTEGER NOT NULL, token TEXT NOT NULL,"
                " payload TEXT NOT NULL, read INTEGER NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,"
                " PRIMARY KEY(owner,id)) WITHOUT ROWID"))
        return 1;
    sqlite3_close(database);
    struct connection *connection = connect_anew(place);
    if (connection == NULL || !run(connection->database, "BEGIN")) return 1;
    struct record record;
    while (next(&record))
        if (insert(connection, &record) == FAILED) return 1;
    int is_done = run(connection->database, "COMMIT") && run(connection->database, "PRAGMA wal_checkpoint(TRUNCATE)");
    close_one(connection);
    return !is_done;
}
