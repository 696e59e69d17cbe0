// SPDX-License-Identifier: Apache-2.0
//
// What a store must do to be measured beside AppBackend's: Tests/Bench/store/peer.c calls it.
#pragma once
#include <stdint.h>

struct record {
    const char *owner;
    int32_t id; // unique for its owner
    const char *token, *payload;
    int64_t created_at, expires_at; // seconds since 1970
};

enum outcome { DONE, TAKEN, FAILED };

// One thread's way to the store; NULL when there is none.
struct connection;
struct connection *store_connect(const char *place);
void store_disconnect(struct connection *);

// Makes the table again, and fills it; `next` gives the records, and 0 behind the last. Durable when it returns.
int store_fill(const char *place, int (*next)(struct record *));

// Durable when it returns.
enum outcome store_create(struct connection *, const struct record *);

// Whether there is such a record, with that payload.
int store_has(struct connection *, const char *owner, int32_t id, const char *payload);
