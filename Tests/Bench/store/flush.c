// SPDX-License-Identifier: Apache-2.0
//
// A model of a disk whose flush takes FLUSH_US microseconds, to be preloaded (LD_PRELOAD) into all that write: one flush at
// a time, and those that are asked for meanwhile share the next one, whatever process asks, as a journal and a drive do it.
// The processes meet in the file FLUSH_STATE. What fsync, fdatasync and syncfs do besides is done.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct disk {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t asked, done; // flushes, counted from the first
    int is_busy;
};

static struct disk *disk;
static struct timespec duration;

static void make_disk(void) {
    pthread_mutexattr_t lock;
    pthread_condattr_t changed;
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&disk->lock, &lock);
    pthread_condattr_init(&changed);
    pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&disk->changed, &changed);
}

// The first caller makes the disk; the others wait at the file's lock until it is there.
__attribute__((constructor)) static void open_disk(void) {
    const char *time = getenv("FLUSH_US"), *path = getenv("FLUSH_STATE");
    if (time == NULL || path == NULL) return;
    long microseconds = atol(time);
    duration = (struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000};
    struct stat status;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0) abort();
    if (status.st_size == 0 && ftruncate(file, sizeof *disk) != 0) abort();
    disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (disk == MAP_FAILED) abort();
    if (status.st_size == 0) make_disk();
    flock(file, LOCK_UN);
    close(file);
}

static void wait_for_disk(void) {
    if (disk == NULL) return;
    pthread_mutex_lock(&disk->lock);
    uint64_t mine = ++disk->asked;
    while (disk->done < mine) {
        if (disk->is_busy) {
            pthread_cond_wait(&disk->changed, &disk->lock);
            continue;
        }
        uint64_t covered = disk->asked;
        disk->is_busy = 1;
        pthread_mutex_unlock(&disk->lock);
        nanosleep(&duration, NULL);
        pthread_mutex_lock(&disk->lock);
        disk->is_busy = 0;
        disk->done = covered;
        pthread_cond_broadcast(&disk->changed);
    }
    pthread_mutex_unlock(&disk->lock);
}

static int flush(const char *name, int file) {
    int (*call)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int result = call(file);
    wait_for_disk();
    return result;
}

int fsync(int file) { return flush("fsync", file); }
int fdatasync(int file) { return flush("fdatasync", file); }
int syncfs(int file) { return flush("syncfs", file); }
