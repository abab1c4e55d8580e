// covers: MPI_Alloc_mem MPI_Free_mem MPI_Win_allocate MPI_Win_allocate_shared MPI_Isend MPI_Irecv MPI_Sendrecv MPI_Waitall
// ranks: 2 3 4
// seconds: 240
/*
 * Messages from and to memory of MPI_Alloc_mem (MPI 5.0 section 9.2), which peers may have mapped: memory that is freed and allocated
 * again between two messages, at the same place and at another, as it was mapped and longer; thousands of allocations; threads that
 * do so at the same time. What arrives is what was sent, and what is freed is nobody's. Memory of MPI_Win_allocate is used likewise, and by
 * accesses of others at the same time; with `windows` nothing else is. With `shared-windows` it is memory of MPI_Win_allocate_shared that need
 * not lie together, with `contiguous-windows` such that does.
 */
#include "threads.h"

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

static unsigned char *memory(size_t bytes)
{
    unsigned char *p = NULL;
    int code = MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p);
    CHECK_EQ(code, MPI_SUCCESS);
    return p;
}

static void release(unsigned char *p)
{
    int code = MPI_Free_mem(p);
    CHECK_EQ(code, MPI_SUCCESS);
}

/* Each round has memory of its own, of which the peer has mapped an earlier life, a part, or nothing. */
static void lives(struct thread *thread)
{
    enum { ROUNDS = 150, MOST = 3 << 20 };
    unsigned state = 77u * (unsigned)(thread->number + 1);
    unsigned char *kept = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        /* The same on all ranks. */
        state = state * 1103515245u + 12345u;
        size_t bytes = 20000 + (state >> 8) % MOST;
        unsigned char *out = memory(bytes), *in = memory(bytes);
        int seed = round * 7 + thread->number;
        MPI_Status status;
        fill(out, bytes, seed + check_rank * 1000);
        memset(in, 0, bytes);
#ifdef SEED_LOST_BYTE_MISTAKE
        out[bytes / 2] ^= 1;
#endif
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, next(), thread->number, in, (int)bytes, MPI_BYTE, previous(), thread->number,
                     MPI_COMM_WORLD, &status);
        CHECK_STATUS(status, previous(), thread->number, (int)bytes);
        CHECK_BYTES(in, bytes, seed + previous() * 1000);
        release(out);
        /* Some stays, so that what comes next lies elsewhere. */
        if (round % 3 == 0) {
            if (kept != NULL)
                release(kept);
            kept = in;
        } else {
            release(in);
        }
    }
    if (kept != NULL)
        release(kept);
}

/* More allocations than a process has descriptors, all used. */
static void thousands(void)
{
    enum { COUNT = 3000, BYTES = 40000, WINDOW = 50 };
    unsigned char **out = check_alloc(COUNT * sizeof *out), *in[WINDOW];
    MPI_Request q[2 * WINDOW];
    for (int i = 0; i < COUNT; i++) {
        out[i] = memory(BYTES);
        fill(out[i], BYTES, i + check_rank);
    }
    for (int i = 0; i < WINDOW; i++)
        in[i] = memory(BYTES);
    for (int done = 0; done < COUNT; done += WINDOW) {
        for (int i = 0; i < WINDOW; i++) {
            memset(in[i], 0, BYTES);
            MPI_Irecv(in[i], BYTES, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &q[i]);
        }
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(out[done + i], BYTES, MPI_BYTE, next(), i, MPI_COMM_WORLD, &q[WINDOW + i]);
        MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WINDOW; i++)
            CHECK_BYTES(in[i], BYTES, done + i + previous());
    }
    for (int i = 0; i < COUNT; i++)
        release(out[i]);
    for (int i = 0; i < WINDOW; i++)
        release(in[i]);
    free(out);
}

/* How windows get their memory. */
enum kind { ALLOCATED, SHARED, CONTIGUOUS };

static void make_window(enum kind kind, MPI_Aint bytes, unsigned char **base, MPI_Win *win)
{
    MPI_Info apart;
    if (kind == ALLOCATED) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win);
        return;
    }
    if (kind == CONTIGUOUS) {
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win);
        return;
    }
    MPI_Info_create(&apart);
    MPI_Info_set(apart, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(bytes, 1, apart, MPI_COMM_WORLD, base, win);
    MPI_Info_free(&apart);
}

/* Messages from one half of a window's memory to the other half of the next one's, between accesses to both; the last rank's windows of
 * every other round are empty. */
static void windows(enum kind kind)
{
    enum { ROUNDS = 20, LEAST = 200000 };
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Aint half = LEAST + round * 50001, none = round % 2 == 1;
        int empty = none && check_rank == check_ranks - 1, from_empty = none && previous() == check_ranks - 1;
        int to_empty = none && next() == check_ranks - 1;
        unsigned char *base = NULL, *spare = check_alloc((size_t)half);
        MPI_Win win;
        make_window(kind, empty ? 0 : 2 * half, &base, &win);
        unsigned char *out = empty ? spare : base, *in = empty ? spare : base + half;
        MPI_Request q[2];
        fill(out, (size_t)half, round + check_rank * 100);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(in, (int)half, MPI_BYTE, empty ? MPI_PROC_NULL : previous(), 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, (int)half, MPI_BYTE, to_empty ? MPI_PROC_NULL : next(), 1, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        if (!empty)
            CHECK_BYTES(in, (size_t)half, round + previous() * 100);
        /* What the next one has received is read from there, and what this one sent is written over. */
        MPI_Win_fence(0, win);
        if (!to_empty) {
            memset(spare, 0, (size_t)half);
            MPI_Get(spare, (int)half, MPI_BYTE, next(), half, (int)half, MPI_BYTE, win);
        }
        MPI_Win_fence(0, win);
        if (!to_empty)
            CHECK_BYTES(spare, (size_t)half, round + check_rank * 100);
        if (!to_empty && !empty) {
            fill(spare, (size_t)half, 7 * round + check_rank);
            MPI_Put(spare, (int)half, MPI_BYTE, next(), 0, (int)half, MPI_BYTE, win);
        }
        MPI_Win_fence(0, win);
        if (!empty && !from_empty)
            CHECK_BYTES(base, (size_t)half, 7 * round + previous());
        MPI_Win_free(&win);
        free(spare);
    }
}

int main(int argc, char **argv)
{
    struct thread alone = {.number = THREADS, .own = MPI_COMM_NULL, .run = lives};
    start_threads_multiple(&argc, &argv, "pt2pt_shareable");
    if (argc < 2) {
        lives(&alone);
        thousands();
        in_threads(lives);
    }
    if (argc < 2 || strcmp(argv[1], "windows") == 0)
        windows(ALLOCATED);
    if (argc < 2 || strcmp(argv[1], "contiguous-windows") == 0)
        windows(CONTIGUOUS);
    if (argc > 1 && strcmp(argv[1], "shared-windows") == 0)
        windows(SHARED);
    return finish();
}
