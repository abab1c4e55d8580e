// covers: MPI_Win_allocate MPI_Win_lock MPI_Put MPI_Win_flush MPI_Win_unlock MPI_Fetch_and_op MPI_Get
/*
 * A target that computes: rank 0 locks, puts, adds, flushes and unlocks while rank 1 calls no function of MPI, and tells it of the end
 * by a file. MPI 5.0 section 12.7.2. The arguments: how many seconds rank 1 computes at most, and the file, which is not there yet.
 */
#define _GNU_SOURCE
#include "../c/check.h"
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { LONG_BYTES = 1 << 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "computing");
    CHECK_EQ(check_ranks, 2);
    CHECK_EQ(argc, 3);
    long *memory, one = 1, found = -1;
    MPI_Win win;
    MPI_Win_allocate(16 + LONG_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = 0, memory[1] = 41;
    unsigned char *data = check_alloc(LONG_BYTES), *read = check_alloc(LONG_BYTES);
    fill(data, LONG_BYTES, 7);
    MPI_Win_fence(0, win); /* connected, and the memory is as it should be */
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        long value = 17;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Put(data, LONG_BYTES, MPI_BYTE, 1, 16, LONG_BYTES, MPI_BYTE, win);
        MPI_Win_flush(1, win);
        MPI_Fetch_and_op(&one, &found, MPI_LONG, 1, 8, MPI_SUM, win);
        MPI_Get(read, LONG_BYTES, MPI_BYTE, 1, 16, LONG_BYTES, MPI_BYTE, win);
        MPI_Win_unlock(1, win);
        CHECK_EQ(found, 41);
        CHECK(memcmp(read, data, LONG_BYTES) == 0);
        int file = open(argv[2], O_CREAT | O_EXCL | O_WRONLY, 0600);
        CHECK(file >= 0);
        close(file);
    } else {
        double end = now() + atof(argv[1]);
        while (access(argv[2], F_OK) != 0 && now() < end)
            usleep(1000);
        CHECK_MSG(access(argv[2], F_OK) == 0, "nothing was done while the target computed for %s seconds", argv[1]);
        volatile long *seen = memory;
        CHECK_EQ(seen[0], 17);
        CHECK_EQ(seen[1], 42);
        CHECK(memcmp((unsigned char *)memory + 16, data, LONG_BYTES) == 0);
    }
    free(data);
    free(read);
    MPI_Win_free(&win);
    return finish();
}
