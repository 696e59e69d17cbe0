// SPDX-License-Identifier: Apache-2.0
// What Swift's Glibc module does not show: epoll, eventfd, crypt_r, and names behind _GNU_SOURCE.
#pragma once
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

// accept4(2): the descriptor is close-on-exec from its first moment.
extern int accept4(int, struct sockaddr *, socklen_t *, int);

static inline int platform_accept(int listener) {
    return accept4(listener, 0, 0, 02000000 /* SOCK_CLOEXEC */);
}

// fcntl(2), open file description locks (Linux 3.15): they belong to the descriptor, not to the process.
// wait = 0: returns -1 with EAGAIN when another holds the lock.
static inline int platform_ofd_lock(int descriptor, short type, int wait) {
    struct flock lock = {0};
    lock.l_type = type;
    return fcntl(descriptor, wait ? 38 /* F_OFD_SETLKW */ : 37 /* F_OFD_SETLK */, &lock);
}

// The same for one byte of the file, so that one lock file carries many locks. Never waits: EAGAIN when another holds it.
static inline int platform_ofd_lock_byte(int descriptor, short type, off_t byte) {
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_start = byte;
    lock.l_len = 1;
    return fcntl(descriptor, 37 /* F_OFD_SETLK */, &lock);
}

// pthread_mutex_clocklock(3) (glibc 2.30), behind _GNU_SOURCE: a wait that ends in time however the wall clock is set.
extern int pthread_mutex_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *);

// sem_clockwait(3) (glibc 2.30), behind _GNU_SOURCE: the same for a semaphore.
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);

// posix_spawn_file_actions_addclosefrom_np(3) (glibc 2.34): the child has nothing open from that number on. For the
// tests, whose children live side by side.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

// statfs(2), whose struct and function Swift cannot tell apart: the magic number of the file system; -1 and errno.
static inline long platform_file_system_type(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)status.f_type : -1;
}

// explicit_bzero(3): an overwriting that no compiler drops.
extern void explicit_bzero(void *, size_t);

static inline void platform_wipe(void *memory, size_t size) {
    explicit_bzero(memory, size);
}

// utimensat(2), whose macros Swift does not import: the time of last access becomes now, and with it that of the last
// status change (ctime); the time of modification stays.
static inline int platform_touch_status(const char *path) {
    struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    return utimensat(AT_FDCWD, path, times, 0);
}

// sync_file_range(2), behind _GNU_SOURCE: the kernel begins to write the whole file to its disk.
extern int sync_file_range(int, off_t, off_t, unsigned int);

static inline int platform_start_writing(int descriptor) {
    return sync_file_range(descriptor, 0, 0, 2 /* SYNC_FILE_RANGE_WRITE */);
}

// open(2) is variadic.
static inline int platform_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

// recv(2) of what is there; MSG_DONTWAIT is an enum and a macro, which Swift does not import.
static inline ssize_t platform_receive(int descriptor, void *buffer, size_t size) {
    return recv(descriptor, buffer, size, MSG_DONTWAIT);
}

// send(2) without the signal that a peer's end makes, of what is taken at once, and waiting.
static inline ssize_t platform_send_now(int descriptor, const void *bytes, size_t size) {
    return send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t platform_send(int descriptor, const void *bytes, size_t size) {
    return send(descriptor, bytes, size, MSG_NOSIGNAL);
}

// Whether there is something to be read; false for the end of a connection.
static inline bool platform_has_bytes(int descriptor) {
    char byte;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// dl_iterate_phdr(3) and its struct dl_phdr_info, as far as it is needed, behind _GNU_SOURCE.
struct platform_object {
    ElfW(Addr) base;
    const char *name;
    const ElfW(Phdr) *headers;
    ElfW(Half) count;
};
extern int platform_iterate_objects(int (*)(struct platform_object *, size_t, void *), void *)
    __asm__("dl_iterate_phdr");

static inline int platform_release_object(struct platform_object *object, size_t size, void *page_size) {
    uintptr_t page = *(uintptr_t *)page_size;
    for (ElfW(Half) i = 0; i < object->count; i++) {
        const ElfW(Phdr) *segment = &object->headers[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
        uintptr_t start = (object->base + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->base + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

// Gives back the pages of code and constants, the executable's and its libraries' (madvise(2), MADV_DONTNEED). They are the
// files', never written to, and come back from the page cache when they are next touched; of what a start reads, nine
// megabytes of the executable alone, an hour's work needs half of one. Segments that may be written to hold relocated
// addresses, and are left alone. Breakpoints that a debugger has set before are lost with the pages: attach to the running
// program.
static inline void platform_release_code_pages(void) {
    uintptr_t page = getauxval(AT_PAGESZ);
    if (page != 0) platform_iterate_objects(platform_release_object, &page);
}

// Gives back the memory that was freed (malloc_trim(3)). An allocator keeps it for its threads, which after a busy minute can
// be hundreds of megabytes that a quiet hour does not need.
static inline void platform_release_free_memory(void) {
    malloc_trim(0);
}

// adjtimex(2), asking only: 1 when the kernel's clock is synchronized, 0 when it is not, -1 when that is not known.
static inline int platform_clock_is_synchronized(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 ? -1 : result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

// A detached thread with that much stack; 0, or an error's number (pthread_create(3)).
static inline int platform_start_thread(void *(*run)(void *), void *argument, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return result;
}
