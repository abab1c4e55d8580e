/*
 * Faults of a file system, before the C library's preadv and pwritev, pread and pwrite: what fs(7)'s pages allow and rarely happens. Loaded by
 * LD_PRELOAD into the ranks of a job; it looks at files of the test programs only (file_at in tests/c/file.h).
 *
 * FAULTY_SEED=N: some calls end by a signal before they have moved anything (EINTR), most others move less than was asked for.
 * faulty_arm(errno, after, writes): so many bytes more are moved this way, then each call fails; 0 ends that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t vectored(int, const struct iovec *, int, off_t);

enum { MOST = 1024 };

static struct direction {
    int refusal;
    long left, moved;
} directions[2];
static uint64_t state;

void faulty_arm(int refusal, long after, int writes)
{
    directions[writes].refusal = refusal;
    directions[writes].left = after;
}

/* How many bytes were moved this way until now. */
long faulty_moved(int writes)
{
    return directions[writes].moved;
}

static int is_of_a_test(int file)
{
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0)
        return 0;
    name[length] = 0;
    return strstr(name, "/ompi-rs-") && !strstr(name, "sharedfp");
}

/* xorshift64, of the seed and the rank. */
static uint64_t next(void)
{
    if (state == 0) {
        const char *seed = getenv("FAULTY_SEED"), *rank = getenv("OMPI_COMM_WORLD_RANK");
        state = strtoull(seed ? seed : "0", NULL, 10) * 1000003 + strtoull(rank ? rank : "0", NULL, 10) + 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static ssize_t faulty(const char *call, int file, const struct iovec *runs, int count, off_t offset, int writes)
{
    struct direction *way = &directions[writes];
    struct iovec cut[MOST];
    size_t total = 0, most;
    int some = 0;
    vectored *real = (vectored *)dlsym(RTLD_NEXT, call);
    if (real == NULL || count > MOST || !is_of_a_test(file))
        return real == NULL ? (errno = ENOSYS, -1) : real(file, runs, count, offset);
    for (int i = 0; i < count; i++)
        total += runs[i].iov_len;
    most = total;
    if (total > 0 && getenv("FAULTY_SEED")) {
        uint64_t chance = next() % 8;
        if (chance == 0)
            return errno = EINTR, -1;
        if (chance < 6)
            most = 1 + next() % total;
    }
    if (total > 0 && way->refusal) {
        if (way->left <= 0)
            return errno = way->refusal, -1;
        most = most < (size_t)way->left ? most : (size_t)way->left;
    }
    for (size_t left = most; some < count && left > 0; some++) {
        cut[some] = runs[some];
        if (cut[some].iov_len > left)
            cut[some].iov_len = left;
        left -= cut[some].iov_len;
    }
    ssize_t moved = real(file, cut, some, offset);
    if (moved > 0) {
        way->moved += moved;
        way->left -= moved;
    }
    return moved;
}

ssize_t preadv(int file, const struct iovec *runs, int count, off_t offset)
{
    return faulty("preadv", file, runs, count, offset, 0);
}

ssize_t pwritev(int file, const struct iovec *runs, int count, off_t offset)
{
    return faulty("pwritev", file, runs, count, offset, 1);
}

ssize_t pread(int file, void *at, size_t bytes, off_t offset)
{
    return faulty("preadv", file, &(struct iovec){at, bytes}, 1, offset, 0);
}

ssize_t pwrite(int file, const void *at, size_t bytes, off_t offset)
{
    return faulty("pwritev", file, &(struct iovec){(void *)at, bytes}, 1, offset, 1);
}
