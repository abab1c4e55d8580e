/*
 * One-sided communication (MPI 5.0 chapter 12): rank 0 accesses rank 1, which waits in a barrier meanwhile; with --fence, --pscw and --make
 * both do the same, and with --lock-all. A flush follows each access, with --many each 64 of them. Sizes are bytes. --fence and --lock-all
 * take any number of ranks; each puts to the next one before a fence.
 *
 *   mpirun -n 2 rma --put | --get | --many | --accumulate | --fetch | --swap | --lock | --fence | --lock-all | --pscw | --make
 *                   [--created | --given] [-s bytes[,bytes]] [-r samples] [-i iterations] [--json] [--pin]
 */
#include "bench.h"

enum { MANY = 64 };

struct side {
    MPI_Win win;
    MPI_Group other;
    char *memory, *buffer;
    int size, rank, next, created;
    void (*call)(struct side *s);
};

static void put(struct side *s)
{
    MPI_Put(s->buffer, s->size, MPI_BYTE, 1, 0, s->size, MPI_BYTE, s->win);
    MPI_Win_flush(1, s->win);
}

static void get(struct side *s)
{
    MPI_Get(s->buffer, s->size, MPI_BYTE, 1, 0, s->size, MPI_BYTE, s->win);
    MPI_Win_flush(1, s->win);
}

static void many(struct side *s)
{
    for (int i = 0; i < MANY; i++)
        MPI_Put(s->buffer, s->size, MPI_BYTE, 1, (MPI_Aint)i * s->size, s->size, MPI_BYTE, s->win);
    MPI_Win_flush(1, s->win);
}

static void accumulate(struct side *s)
{
    int count = s->size / (int)sizeof(double);
    MPI_Accumulate(s->buffer, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, s->win);
    MPI_Win_flush(1, s->win);
}

static void fetch(struct side *s)
{
    long one = 1;
    MPI_Fetch_and_op(&one, s->buffer, MPI_LONG, 1, 0, MPI_SUM, s->win);
    MPI_Win_flush(1, s->win);
}

static void swap(struct side *s)
{
    long one = 1, zero = 0;
    MPI_Compare_and_swap(&one, &zero, s->buffer, MPI_LONG, 1, 0, s->win);
    MPI_Win_flush(1, s->win);
}

static void lock(struct side *s)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, s->win);
    MPI_Put(s->buffer, s->size, MPI_BYTE, 1, 0, s->size, MPI_BYTE, s->win);
    MPI_Win_unlock(1, s->win);
}

static void fence(struct side *s)
{
    MPI_Put(s->buffer, s->size, MPI_BYTE, s->next, 0, s->size, MPI_BYTE, s->win);
    MPI_Win_fence(0, s->win);
}

static void lock_all(struct side *s)
{
    MPI_Win_lock_all(0, s->win);
    MPI_Win_unlock_all(s->win);
}

static void pscw(struct side *s)
{
    MPI_Win_post(s->other, 0, s->win);
    MPI_Win_start(s->other, 0, s->win);
    MPI_Put(s->buffer, s->size, MPI_BYTE, s->next, 0, s->size, MPI_BYTE, s->win);
    MPI_Win_complete(s->win);
    MPI_Win_wait(s->win);
}

static void make(struct side *s)
{
    MPI_Win win;
    char *memory;
    if (s->created)
        MPI_Win_create(s->memory, s->size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(s->size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_free(&win);
}

static const struct pattern {
    const char *flag, *help;
    void (*call)(struct side *s);
    enum { LOCKED, ALONE, TOGETHER, UNLOCKED } how; /* rank 0 under MPI_Win_lock_all; rank 0 with locks of its own; all; all without an epoch */
} patterns[] = {
    {"--put", "MPI_Put and a flush", put, LOCKED},
    {"--get", "MPI_Get and a flush", get, LOCKED},
    {"--many", "64 times MPI_Put and a flush", many, LOCKED},
    {"--accumulate", "MPI_Accumulate of doubles with MPI_SUM and a flush", accumulate, LOCKED},
    {"--fetch", "MPI_Fetch_and_op and a flush", fetch, LOCKED},
    {"--swap", "MPI_Compare_and_swap and a flush", swap, LOCKED},
    {"--lock", "MPI_Win_lock, MPI_Put, MPI_Win_unlock", lock, ALONE},
    {"--fence", "MPI_Put and MPI_Win_fence", fence, TOGETHER},
    {"--lock-all", "MPI_Win_lock_all and MPI_Win_unlock_all by all ranks", lock_all, UNLOCKED},
    {"--pscw", "post, start, MPI_Put, complete, wait", pscw, TOGETHER},
    {"--make", "a window and MPI_Win_free", make, TOGETHER},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static void together(void *with, int iterations)
{
    struct side *s = with;
    for (int i = 0; i < iterations; i++)
        s->call(s);
}

static void alone(void *with, int iterations)
{
    struct side *s = with;
    for (int i = 0; i < iterations && s->rank == 0; i++)
        s->call(s);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(const struct bench *b, const struct pattern *pattern, int created, int given, int size)
{
    struct side s = {.size = size, .rank = b->rank, .next = (b->rank + 1) % b->ranks, .created = created || given, .call = pattern->call};
    size_t all = (size_t)(size < 8 ? 8 : size) * MANY;
    MPI_Group both;
    if (given)
        MPI_Alloc_mem((MPI_Aint)all, MPI_INFO_NULL, &s.memory);
    else if (created)
        s.memory = bench_memory(b, all);
    if (s.created)
        MPI_Win_create(s.memory, (MPI_Aint)all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &s.win);
    else
        MPI_Win_allocate((MPI_Aint)all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &s.memory, &s.win);
    memset(s.memory, 0, all);
    s.buffer = bench_memory(b, all);
    MPI_Comm_group(MPI_COMM_WORLD, &both);
    MPI_Group_incl(both, 1, &s.next, &s.other);
    MPI_Barrier(MPI_COMM_WORLD);
    if (pattern->how == TOGETHER)
        MPI_Win_fence(0, s.win);
    if (pattern->how == LOCKED)
        MPI_Win_lock_all(0, s.win);
    if (pattern->call == put || pattern->call == lock) {
        bench_fill(s.buffer, (size_t)size, 3);
        alone(&s, 1);
        /* MPICH wants a lock around MPI_Win_sync. */
        if (pattern->how == ALONE)
            MPI_Win_lock(MPI_LOCK_SHARED, b->rank, 0, s.win);
        MPI_Win_sync(s.win);
        if (b->rank == 1)
            bench_verify(b, s.memory, (size_t)size, 3);
        if (pattern->how == ALONE)
            MPI_Win_unlock(b->rank, s.win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (pattern->call == accumulate)
        memset(s.buffer, 0, all);
    bench_measure(b, pattern->how == TOGETHER || pattern->how == UNLOCKED ? together : alone, &s, size, MICROSECONDS, 1, size);
    if (pattern->how == LOCKED)
        MPI_Win_unlock_all(s.win);
    MPI_Win_free(&s.win);
    MPI_Group_free(&both), MPI_Group_free(&s.other);
    if (given)
        MPI_Free_mem(s.memory);
    else if (created)
        free(s.memory);
    free(s.buffer);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "rma", .repetitions = 20, .chunk_us = 4000, .sizes = {8}, .size_count = 1}};
    const struct pattern *pattern = NULL;
    int named[PATTERNS] = {0}, created = 0, given = 0, count = 0;
    for (int k = 0; k < PATTERNS; k++)
        b.o.flags[k] = (struct flag){patterns[k].flag, patterns[k].help, &named[k]};
    b.o.flags[PATTERNS] = (struct flag){"--created", "the window is over memory of the program's", &created};
    b.o.flags[PATTERNS + 1] = (struct flag){"--given", "the window is over memory of MPI_Alloc_mem", &given};
    b = bench_start(&argc, &argv, b);
    for (int k = 0; k < PATTERNS; k++)
        if (named[k]) {
            pattern = &patterns[k];
            count++;
        }
    if (count != 1)
        bench_die(&b, "name one pattern; those named", count);
    if (b.ranks != 2 && pattern->call != fence && pattern->call != lock_all)
        bench_die(&b, "only --fence and --lock-all take other numbers of ranks than 2; these are", b.ranks);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, pattern, created, given, b.o.sizes[i]);
    bench_finish();
    return 0;
}
