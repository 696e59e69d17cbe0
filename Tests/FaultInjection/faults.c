// SPDX-License-Identifier: Apache-2.0
//
// A disk and a clock that fail, for a program that knows nothing of it: gcc -shared -fPIC -o faults.so faults.c, and
// LD_PRELOAD=faults.so. The folder that $FAULTS names says what goes wrong, from one call to the next, by the files in it:
//
//   flush    fdatasync(2) and fsync(2) of a file fail with EIO
//   freeze   the next write(2) of a line to a .jsonl file stops the process half way (SIGSTOP); the file is removed
//   clock    holds a number of seconds that the time of day is off by; semaphores that wait for it wait as much longer
//   haste    each look at the time since the start of the system finds a second more gone
//   pause    holds a number of seconds that libcurl, and nothing else, finds gone on the clock that cannot be set
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The path of that trigger; 0 when there is no folder of triggers.
static int trigger(const char *name, char *path) {
    const char *folder = getenv("FAULTS");
    return folder && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static int is_set(const char *name) {
    char path[PATH_MAX];
    int before = errno;
    int set = trigger(name, path) && syscall(SYS_access, path, F_OK) == 0;
    errno = before;
    return set;
}

static int fails(int descriptor) {
    struct stat status;
    return is_set("flush") && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static int flush(int descriptor, long call) {
    if (!fails(descriptor)) return (int)syscall(call, descriptor);
    errno = EIO;
    return -1;
}

int fdatasync(int descriptor) { return flush(descriptor, SYS_fdatasync); }

int fsync(int descriptor) { return flush(descriptor, SYS_fsync); }

static int is_line(int descriptor, size_t count) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = count > 64 ? readlink(link, path, sizeof path) : 0;
    return length > 6 && memcmp(path + length - 6, ".jsonl", 6) == 0;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    char path[PATH_MAX];
    if (!is_set("freeze") || !is_line(descriptor, count) || !trigger("freeze", path) || unlink(path) != 0)
        return syscall(SYS_write, descriptor, bytes, count);
    ssize_t written = syscall(SYS_write, descriptor, bytes, count / 2);
    raise(SIGSTOP);
    return written;
}

static long offset(const char *name) {
    char path[PATH_MAX], text[32] = "";
    int before = errno;
    int file = trigger(name, path) ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (file >= 0) {
        if (syscall(SYS_read, file, text, sizeof text - 1) < 0) text[0] = 0;
        syscall(SYS_close, file);
    }
    errno = before;
    return strtol(text, NULL, 10);
}

static int is_libcurl(void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libcurl");
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static atomic_long seconds;
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_BOOTTIME && is_set("haste")) now->tv_sec += ++seconds;
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset("clock");
    if (result == 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW) &&
        is_libcurl(__builtin_return_address(0)))
        now->tv_sec += offset("pause");
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

static int is_over(const struct timespec *end, clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec != end->tv_sec ? now.tv_sec > end->tv_sec : now.tv_nsec >= end->tv_nsec;
}

// The kernel knows nothing of our time of day. So a wait until a moment of it is made of short ones on the other clock,
// until that moment has come; as long as it does not come, because the clock was set back, it goes on.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end) {
    while (sem_trywait(semaphore) != 0) {
        if (is_over(end, CLOCK_REALTIME)) {
            errno = ETIMEDOUT;
            return -1;
        }
        usleep(2000);
    }
    return 0;
}
