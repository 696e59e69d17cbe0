// SPDX-License-Identifier: Apache-2.0
//
// Does to another store what store-bench (Tests/Bench/StoreBench) does to AppBackend's, is called in the same way, and answers
// in the same way; see there.
//
//   PEER fill PLACE RECORDS OWNERS
//   PEER create PLACE OWNERS THREADS SECONDS
//   PEER read PLACE
//   PEER open PLACE
#include "peer.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAMED = 20000, TOKEN = 22, NAME = 32, LIFETIME = 30 * 24 * 60 * 60 };

static const char payload[] = "The quick brown fox jumps over the lazy dog, and the code for today is 1234567; "
                              "keep it for yourself and tell no one else.";

struct times {
    uint64_t *values;
    size_t count, room;
};

struct worker {
    pthread_t thread;
    struct connection *connection;
    uint64_t random;
    struct times times;
};

static int owners, seconds;

static void fail(const char *what) {
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// SplitMix64.
static uint64_t draw(uint64_t *state) {
    uint64_t bits = *state += 0x9E3779B97F4A7C15;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return bits ^ bits >> 31;
}

static void append(struct times *times, uint64_t value) {
    if (times->count == times->room) {
        times->room = times->room ? 2 * times->room : 1024;
        times->values = realloc(times->values, times->room * sizeof value);
        if (times->values == NULL) fail("realloc");
    }
    times->values[times->count++] = value;
}

static void append_all(struct times *times, const struct times *others) {
    for (size_t i = 0; i < others->count; i++) append(times, others->values[i]);
}

// Writes the number of the times, and the times; then stays until standard input ends.
static void answer(const struct times *times) {
    uint64_t count = times->count;
    if (fwrite(&count, sizeof count, 1, stdout) != 1
        || fwrite(times->values, sizeof *times->values, times->count, stdout) != times->count || fflush(stdout) != 0)
        fail("write");
    while (getchar() != EOF) {}
}

struct texts {
    char owner[NAME], token[TOKEN + 1];
};

static struct record record(int owner, uint64_t *random, struct texts *texts) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    snprintf(texts->owner, sizeof texts->owner, "owner-%d", owner);
    uint64_t bits = 0;
    for (int i = 0; i < TOKEN; i++, bits >>= 6) {
        if (i % 10 == 0) bits = draw(random);
        texts->token[i] = digits[bits & 63];
    }
    texts->token[TOKEN] = 0;
    int64_t created = time(NULL);
    int32_t id = 1 + (int32_t)(draw(random) % (INT32_MAX - 1));
    return (struct record){texts->owner, id, texts->token, payload, created, created + LIFETIME};
}

// MARK: fill

static int filled, wanted;

// The ids look as if they were drawn, and no two are equal: the factor is odd.
static int next(struct record *new) {
    static struct texts texts;
    static uint64_t random = 1;
    if (filled == wanted) return 0;
    *new = record(filled % owners, &random, &texts);
    new->id = (int32_t)((uint32_t)(filled + 1) * 2654435761 & INT32_MAX);
    if (filled++ % (wanted > NAMED ? wanted / NAMED : 1) == 0) printf("%s %" PRId32 "\n", new->owner, new->id);
    return 1;
}

// MARK: create

static void *create(void *argument) {
    struct worker *worker = argument;
    // The first second does not count.
    uint64_t begin = now() + 1000000000, end = begin + (uint64_t)seconds * 1000000000, start;
    while ((start = now()) < end) {
        struct texts texts;
        enum outcome outcome;
        do {
            struct record new = record((int)(draw(&worker->random) % (uint64_t)owners), &worker->random, &texts);
            outcome = store_create(worker->connection, &new);
        } while (outcome == TAKEN);
        if (start >= begin) append(&worker->times, outcome == DONE ? now() - start : UINT64_MAX);
    }
    return NULL;
}

static void create_all(const char *place, int threads) {
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)getpid() << 32 | (uint64_t)i;
        workers[i].connection = store_connect(place);
        if (workers[i].connection == NULL) fail("connect");
    }
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) exit(65);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, create, &workers[i]) != 0) fail("pthread_create");
    for (int i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
    struct times times = {0};
    for (int i = 0; i < threads; i++) append_all(&times, &workers[i].times);
    answer(&times);
    for (int i = 0; i < threads; i++) store_disconnect(workers[i].connection);
}

// MARK: read and open

static void read_all(const char *place) {
    struct name {
        char owner[NAME];
        int32_t id;
    } *names = malloc(NAMED * 2 * sizeof *names);
    size_t count = 0;
    char line[2 * NAME];
    while (names != NULL && count < NAMED * 2 && fgets(line, sizeof line, stdin) != NULL
           && sscanf(line, "%31s %" SCNd32, names[count].owner, &names[count].id) == 2)
        count++;
    struct connection *connection = store_connect(place);
    if (connection == NULL) fail("connect");
    struct times times = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t start = now();
        int found = store_has(connection, names[i].owner, names[i].id, payload);
        append(&times, found ? now() - start : UINT64_MAX);
    }
    answer(&times);
    store_disconnect(connection);
}

static void open_once(const char *place) {
    uint64_t start = now();
    struct connection *connection = store_connect(place);
    if (connection == NULL) fail("connect");
    struct times times = {0};
    append(&times, now() - start);
    answer(&times);
    store_disconnect(connection);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    const char *mode = arguments[1], *place = arguments[2];
    if (strcmp(mode, "fill") == 0 && count == 5) {
        wanted = atoi(arguments[3]);
        owners = atoi(arguments[4]);
        if (wanted < 0 || owners < 1) return 64;
        if (store_fill(place, next) != 0) fail("fill");
    } else if (strcmp(mode, "create") == 0 && count == 6) {
        owners = atoi(arguments[3]);
        seconds = atoi(arguments[5]);
        int threads = atoi(arguments[4]);
        if (owners < 1 || threads < 1) return 64;
        create_all(place, threads);
    } else if (strcmp(mode, "read") == 0) {
        read_all(place);
    } else if (strcmp(mode, "open") == 0) {
        open_once(place);
    } else {
        return 64;
    }
    return 0;
}
