// covers: MPI_Isend MPI_Testsome MPI_Waitall MPI_Recv MPI_Irecv
/*
 * Senders that run ahead of a process which is outside MPI, and floods that cross each other. The argument is btl_ofi_window: that
 * many messages leave a sender, and no more, until the receiver takes some; all of them come, in order.
 */
#include "../c/check.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 4096, MESSAGES = 1500, PASSES = 3000, DATA = 1, READY = 2, CROSSING = 400 };

static int window;

/* How many messages each rank could send, plus 1; 0: not known yet. Beside MPI, since the receiver makes no call of it. */
static volatile int *shared_counts(void)
{
    char name[] = "/tmp/ompi-ahead-XXXXXX";
    int file = -1;
    if (check_rank == 0) {
        file = mkstemp(name);
        CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check_rank != 0)
        file = open(name, O_RDWR);
    volatile int *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(file >= 0 && counts != MAP_FAILED);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        unlink(name);
    return counts;
}


static void receive(int sender)
{
    unsigned char room[BYTES], want[BYTES];
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(room, BYTES, MPI_BYTE, sender, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fill(want, BYTES, sender * 31 + i);
        CHECK_MSG(memcmp(room, want, BYTES) == 0, "message %d of rank %d is not what was sent", i, sender);
    }
}

/* What has left after so many passes of progress without any more, while the receiver computes. */
static int leave(MPI_Request *requests)
{
    int left = 0, idle = 0, done, indices[MESSAGES];
    while (idle < PASSES) {
        MPI_Testsome(MESSAGES, requests, &done, indices, MPI_STATUSES_IGNORE);
        left += done == MPI_UNDEFINED ? 0 : done;
        idle = done > 0 ? 0 : idle + 1;
    }
    return left;
}

static void ahead(volatile int *counts)
{
    if (check_rank == 0) {
        for (int r = 1; r < check_ranks; r++)
            MPI_Send(NULL, 0, MPI_BYTE, r, READY, MPI_COMM_WORLD);
        for (int r = 1; r < check_ranks; r++)
            while (counts[r] == 0)
                sched_yield();
        for (int r = check_ranks - 1; r > 0; r--) {
            CHECK_MSG(counts[r] - 1 <= window, "%d messages of rank %d have left, %d may be on their way", counts[r] - 1, r, window);
            receive(r);
        }
        return;
    }
    unsigned char *data = check_alloc((size_t)MESSAGES * BYTES);
    MPI_Request *requests = check_alloc(MESSAGES * sizeof *requests);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
        fill(data + (size_t)i * BYTES, BYTES, check_rank * 31 + i);
        MPI_Isend(data + (size_t)i * BYTES, BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &requests[i]);
    }
    counts[check_rank] = leave(requests) + 1;
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(data);
}

/* Each floods each before it takes anything: all windows are full in both directions. */
static void crossing(void)
{
    int all = check_ranks * CROSSING, (*sent)[CROSSING] = check_alloc((size_t)all * sizeof(int));
    MPI_Request *requests = check_alloc((size_t)all * sizeof *requests);
    for (int i = 0; i < CROSSING; i++)
        for (int r = 0; r < check_ranks; r++) {
            sent[r][i] = check_rank * 100000 + i;
            MPI_Isend(&sent[r][i], 1, MPI_INT, r, DATA, MPI_COMM_WORLD, &requests[r * CROSSING + i]);
        }
    for (int r = check_ranks - 1; r >= 0; r--)
        for (int i = 0; i < CROSSING; i++) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, r, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(got, r * 100000 + i);
        }
    MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(sent);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "ahead");
    CHECK(argc == 2);
    window = argc == 2 ? atoi(argv[1]) : 0;
    volatile int *counts = shared_counts();
    ahead(counts);
    MPI_Barrier(MPI_COMM_WORLD);
    crossing();
    munmap((void *)counts, 4096);
    return finish();
}
