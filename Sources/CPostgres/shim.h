// SPDX-License-Identifier: Apache-2.0
// libpq's functions in a table that is filled when a database is first asked for. The program is not linked with libpq
// (hence no pkg-config, which would do that): it runs on hosts that have none, as long as their store is in files.
#pragma once
#include <dlfcn.h>
#include <stdlib.h>
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define POSTGRES_FUNCTIONS(X) \
    X(PQclear) X(PQcmdTuples) X(PQconnectdbParams) X(PQconninfoFree) X(PQconninfoParse) \
    X(PQconsumeInput) X(PQerrorMessage) X(PQfinish) X(PQflush) X(PQfreemem) X(PQgetisnull) X(PQgetlength) X(PQgetResult) \
    X(PQgetvalue) X(PQisBusy) X(PQntuples) X(PQparameterStatus) X(PQresultErrorField) X(PQresultStatus) X(PQsendPrepare) \
    X(PQsendQuery) X(PQsendQueryPrepared) X(PQsetnonblocking) X(PQsetNoticeReceiver) X(PQsocket) X(PQstatus) \
    X(PQtransactionStatus) X(PQconndefaults)

// Each has the type that the header declares; nothing is called through a wrong one.
struct postgres_functions {
#define POSTGRES_MEMBER(name) __typeof__(&name) _Nonnull name;
    POSTGRES_FUNCTIONS(POSTGRES_MEMBER)
#undef POSTGRES_MEMBER
};

// The table, for as long as the process lives; NULL when the library, or a function of it, is not there.
static inline const struct postgres_functions *_Nullable postgres_load(const char *_Nonnull name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    struct postgres_functions *found = malloc(sizeof *found);
    if (found == NULL) return NULL;
    int missing = 0;
#define POSTGRES_FIND(name) missing += (found->name = (__typeof__(&name))dlsym(library, #name)) == NULL;
    POSTGRES_FUNCTIONS(POSTGRES_FIND)
#undef POSTGRES_FIND
    if (missing == 0) return found;
    free(found);
    return NULL;
}

// Warnings and notices of the server, which libpq would print to standard error: they may repeat values.
static inline void postgres_ignore_notice(void *_Nullable context, const PGresult *_Nullable notice) {
    (void)context;
    (void)notice;
}
