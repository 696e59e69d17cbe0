// SPDX-License-Identifier: Apache-2.0
//
// PostgreSQL through libpq: a connection for each thread, and prepared statements; the server flushes each commit.
#include "peer.h"
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 24 };

// PLACE is what PQconnectdb takes.
struct connection {
    PGconn *server;
};

static int succeeds(PGresult *result, ExecStatusType wanted) {
    int is_wanted = PQresultStatus(result) == wanted;
    if (!is_wanted) fprintf(stderr, "%s", PQresultErrorMessage(result));
    PQclear(result);
    return is_wanted;
}

static int run(PGconn *server, const char *sql) { return succeeds(PQexec(server, sql), PGRES_COMMAND_OK); }

static PGconn *connect_to_server(const char *place) {
    PGconn *server = PQconnectdb(place);
    if (PQstatus(server) == CONNECTION_OK) return server;
    fprintf(stderr, "%s", PQerrorMessage(server));
    PQfinish(server);
    return NULL;
}

struct connection *store_connect(const char *place) {
    struct connection *new = calloc(1, sizeof *new);
    if (new == NULL || (new->server = connect_to_server(place)) == NULL) return NULL;
    const char *insert = "INSERT INTO notifications(owner,id,token,payload,read,created_at,expires_at)"
                         " VALUES($1,$2,$3,$4,false,$5,$6) ON CONFLICT DO NOTHING";
    const char *find = "SELECT token,payload,read,created_at,expires_at FROM notifications"
                       " WHERE owner=$1 AND id=$2 AND expires_at>$3";
    int is_ready = succeeds(PQprepare(new->server, "insert", insert, 6, NULL), PGRES_COMMAND_OK)
        && succeeds(PQprepare(new->server, "find", find, 3, NULL), PGRES_COMMAND_OK);
    return is_ready ? new : NULL;
}

void store_disconnect(struct connection *connection) {
    PQfinish(connection->server);
    free(connection);
}

enum outcome store_create(struct connection *connection, const struct record *record) {
    char id[NUMBER], created_at[NUMBER], expires_at[NUMBER];
    snprintf(id, sizeof id, "%" PRId32, record->id);
    snprintf(created_at, sizeof created_at, "%" PRId64, record->created_at);
    snprintf(expires_at, sizeof expires_at, "%" PRId64, record->expires_at);
    const char *values[] = {record->owner, id, record->token, record->payload, created_at, expires_at};
    PGresult *result = PQexecPrepared(connection->server, "insert", 6, values, NULL, NULL, 0);
    enum outcome outcome = FAILED;
    if (PQresultStatus(result) == PGRES_COMMAND_OK) outcome = strcmp(PQcmdTuples(result), "1") == 0 ? DONE : TAKEN;
    else fprintf(stderr, "%s", PQresultErrorMessage(result));
    PQclear(result);
    return outcome;
}

int store_has(struct connection *connection, const char *owner, int32_t id, const char *payload) {
    char number[NUMBER];
    snprintf(number, sizeof number, "%" PRId32, id);
    const char *values[] = {owner, number, "0"};
    PGresult *result = PQexecPrepared(connection->server, "find", 3, values, NULL, NULL, 0);
    int found = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1
        && strcmp(PQgetvalue(result, 0, 1), payload) == 0;
    PQclear(result);
    return found;
}

// As COPY's lines; our texts have no tabs and no backslashes.
static int copy(PGconn *server, int (*next)(struct record *)) {
    char line[1024];
    struct record record;
    if (!succeeds(PQexec(server, "COPY notifications FROM STDIN"), PGRES_COPY_IN)) return 0;
    while (next(&record)) {
        int length = snprintf(
            line, sizeof line, "%s\t%" PRId32 "\t%s\t%s\tf\t%" PRId64 "\t%" PRId64 "\n", record.owner, record.id,
            record.token, record.payload, record.created_at, record.expires_at);
        if (PQputCopyData(server, line, length) != 1) return 0;
    }
    if (PQputCopyEnd(server, NULL) != 1) return 0;
    int is_done = 1;
    for (PGresult *result; (result = PQgetResult(server)) != NULL;)
        is_done = succeeds(result, PGRES_COMMAND_OK) && is_done;
    return is_done;
}

int store_fill(const char *place, int (*next)(struct record *)) {
    PGconn *server = connect_to_server(place);
    if (server == NULL) return 1;
    int is_done = run(server, "SET client_min_messages=warning") && run(server, "DROP TABLE IF EXISTS notifications")
        && run(server,
               "CREATE TABLE notifications(owner text NOT NULL, id integer NOT NULL, token text NOT NULL,"
               " payload text NOT NULL, read boolean NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL,"
               " PRIMARY KEY(owner,id))")
        && copy(server, next) && run(server, "VACUUM ANALYZE notifications") && run(server, "CHECKPOINT");
    PQfinish(server);
    return !is_done;
}
