// SPDX-License-Identifier: Apache-2.0
// What Swift's Glibc module does not show: epoll, eventfd, crypt_r, and names behind _GNU_SOURCE.
#pragma once
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>

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

// open(2) is variadic.
static inline int platform_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

// memfd_create(2), behind _GNU_SOURCE: a file without a name, in memory, close-on-exec. Never executable, as hosts may
// demand (vm.memfd_noexec); kernels before 6.3 do not know that flag.
extern int memfd_create(const char *, unsigned int);

static inline int platform_memory_file(const char *name) {
    int descriptor = memfd_create(name, 0x0001u /* MFD_CLOEXEC */ | 0x0008u /* MFD_NOEXEC_SEAL */);
    return descriptor < 0 && errno == EINVAL ? memfd_create(name, 0x0001u /* MFD_CLOEXEC */) : descriptor;
}

// recv(2) of what is there; MSG_DONTWAIT is an enum and a macro, which Swift does not import.
static inline ssize_t platform_receive(int descriptor, void *buffer, size_t size) {
    return recv(descriptor, buffer, size, MSG_DONTWAIT);
}

// Gives back the pages of the executable's own code and constants (madvise(2), MADV_DONTNEED). They are the file's, never
// written to, and come back from the page cache when they are next touched; of what a start reads, nine megabytes, an
// hour's work needs half of one. Segments that may be written to hold relocated addresses, and are left alone.
static inline void platform_release_program_pages(void) {
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    uintptr_t count = getauxval(AT_PHNUM), page = getauxval(AT_PAGESZ), base = 0;
    if (headers == 0 || page == 0) return;
    for (uintptr_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_PHDR) base = (uintptr_t)headers - headers[i].p_vaddr;
    }
    for (uintptr_t i = 0; base != 0 && i < count; i++) {
        if (headers[i].p_type != PT_LOAD || (headers[i].p_flags & PF_W) != 0) continue;
        uintptr_t start = base + headers[i].p_vaddr, end = start + headers[i].p_filesz;
        start &= ~(page - 1);
        end &= ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
}

// adjtimex(2), asking only: 1 when somebody keeps the kernel's clock right, 0 when nobody does, -1 when it is not known.
static inline int platform_clock_is_synchronized(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 ? -1 : result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
