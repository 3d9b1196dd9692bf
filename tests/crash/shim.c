/* Stands between the referee and the C library: writes down, in one order over all threads, what goes to the files of
 * its directory, when they were synced and what left on a socket; and makes disk and clock fail when told to.
 *
 * CRASH_DIR    directory whose files are meant
 * CRASH_TRACE  file that records are appended to (see trace.py); none if unset
 * CRASH_FAULTS file of 16 bytes, mapped: int32 errno of writes, int32 errno of syncs, int64 nanoseconds that the
 *              wall clock is off
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC_BEGUN, SYNCED, SEND_BEGUN, SENT, TRUNCATE, RENAME, UNLINK };

struct head { uint32_t kind; int32_t channel; int64_t value; uint32_t name, data; };
static volatile struct { int32_t write_errno, sync_errno; int64_t clock_ns; } none, *faults = (void *)&none;
static char directory[PATH_MAX];
static size_t directory_length;
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
    const char *path;
    if ((path = getenv("CRASH_DIR")) != NULL) {
        snprintf(directory, sizeof directory, "%s/", path);
        directory_length = strlen(directory);
    }
    if ((path = getenv("CRASH_TRACE")) != NULL)
        trace = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if ((path = getenv("CRASH_FAULTS")) != NULL) {
        int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
        void *map = file < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, file, 0);
        if (map == MAP_FAILED) abort();
        faults = map;
    }
}

static const char *inside(const char *path) {
    return directory_length && !strncmp(path, directory, directory_length) ? path + directory_length : NULL;
}

/* The name inside the directory of what a descriptor is open on, or NULL. */
static const char *name_of(int descriptor, char *buffer) {
    char link[64];
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    errno = kept;
    if (length < 0) return NULL;
    buffer[length] = 0;
    return inside(buffer);
}

static int is_socket(int descriptor) {
    struct stat about;
    int kept = errno;
    int is = !fstat(descriptor, &about) && S_ISSOCK(about.st_mode);
    errno = kept;
    return is;
}

static void record(int kind, int channel, int64_t value, const char *name, const struct iovec *data, int parts) {
    if (trace < 0) return;
    int kept = errno;
    struct head head = {kind, channel, value, name ? strlen(name) : 0, 0};
    for (int i = 0; i < parts; i++) head.data += data[i].iov_len;
    struct iovec *all = malloc((parts + 2) * sizeof *all);
    all[0] = (struct iovec){&head, sizeof head};
    all[1] = (struct iovec){(void *)name, head.name};
    if (parts) memcpy(all + 2, data, parts * sizeof *data);
    pthread_mutex_lock(&lock);
    syscall(SYS_writev, trace, all, parts + 2);
    pthread_mutex_unlock(&lock);
    free(all);
    errno = kept;
}

static ssize_t written(int descriptor, int64_t offset, const char *name, const void *data, ssize_t length) {
    struct iovec part = {(void *)data, length > 0 ? length : 0};
    if (length > 0) record(WRITE, descriptor, offset, name, &part, 1);
    return length;
}

#define PWRITE(function) \
    ssize_t function(int descriptor, const void *data, size_t length, off64_t offset) { \
        char buffer[PATH_MAX]; \
        const char *name = name_of(descriptor, buffer); \
        if (!name) return REAL(function)(descriptor, data, length, offset); \
        if (faults->write_errno) { errno = faults->write_errno; return -1; } \
        return written(descriptor, offset, name, data, REAL(function)(descriptor, data, length, offset)); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int descriptor, const void *data, size_t length) {
    char buffer[PATH_MAX];
    const char *name = name_of(descriptor, buffer);
    if (!name) return REAL(write)(descriptor, data, length);
    if (faults->write_errno) { errno = faults->write_errno; return -1; }
    int64_t offset = lseek(descriptor, 0, SEEK_CUR);
    return written(descriptor, offset, name, data, REAL(write)(descriptor, data, length));
}

#define SYNC(function) \
    int function(int descriptor) { \
        char buffer[PATH_MAX]; \
        const char *name = name_of(descriptor, buffer); \
        if (!name) return REAL(function)(descriptor); \
        if (faults->sync_errno) { errno = faults->sync_errno; return -1; } \
        record(SYNC_BEGUN, descriptor, 0, name, NULL, 0); \
        int result = REAL(function)(descriptor); \
        if (!result) record(SYNCED, descriptor, 0, name, NULL, 0); \
        return result; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE_TO(function) \
    int function(int descriptor, off64_t length) { \
        char buffer[PATH_MAX]; \
        const char *name = name_of(descriptor, buffer); \
        int result = REAL(function)(descriptor, length); \
        if (name && !result) record(TRUNCATE, descriptor, length, name, NULL, 0); \
        return result; \
    }
TRUNCATE_TO(ftruncate)
TRUNCATE_TO(ftruncate64)

int rename(const char *from, const char *to) {
    int result = REAL(rename)(from, to);
    const char *old = inside(from), *new = inside(to);
    struct iovec part = {(void *)new, new ? strlen(new) : 0};
    if (old && new && !result) record(RENAME, 0, 0, old, &part, 1);
    return result;
}

int unlink(const char *path) {
    int result = REAL(unlink)(path);
    const char *name = inside(path);
    if (name && !result) record(UNLINK, 0, 0, name, NULL, 0);
    return result;
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    /* Written down before a byte can have left, and how many did afterwards. */
    record(SEND_BEGUN, descriptor, 0, NULL, message->msg_iov, message->msg_iovlen);
    ssize_t length = REAL(sendmsg)(descriptor, message, flags);
    record(SENT, descriptor, length, NULL, NULL, 0);
    return length;
}

ssize_t send(int descriptor, const void *data, size_t length, int flags) {
    struct iovec part = {(void *)data, length};
    record(SEND_BEGUN, descriptor, 0, NULL, &part, 1);
    ssize_t result = REAL(send)(descriptor, data, length, flags);
    record(SENT, descriptor, result, NULL, NULL, 0);
    return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    int sends = is_socket(descriptor);
    if (sends) record(SEND_BEGUN, descriptor, 0, NULL, parts, number);
    ssize_t length = REAL(writev)(descriptor, parts, number);
    if (sends) record(SENT, descriptor, length, NULL, NULL, 0);
    return length;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (!result && clock == CLOCK_REALTIME && faults->clock_ns) {
        int64_t ns = now->tv_sec * 1000000000LL + now->tv_nsec + faults->clock_ns;
        now->tv_sec = ns / 1000000000LL;
        now->tv_nsec = ns % 1000000000LL;
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    if (!result) *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return result;
}
