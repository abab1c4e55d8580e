// covers: MPI_Bcast MPI_Gather MPI_Scatter MPI_Allgather MPI_Alltoall MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block MPI_Scan MPI_Exscan MPI_Gatherv MPI_Scatterv MPI_Allgatherv MPI_Alltoallv MPI_Alltoallw
/*
 * Collectives against a reference that uses MPI_Send and MPI_Recv only: functions, sizes, types, operations, roots,
 * MPI_IN_PLACE and communicators drawn from a seed, the same on all ranks. Arguments: how many draws (0: every combination
 * of function, size, type and communicator once), and the seed. Which algorithms run is the choice of who launches it.
 */
#include "coll_differential.h"
#include <unistd.h>

enum { WORLD, REVERSED, HALF, COPY, COMMS };
static MPI_Comm comms[COMMS], beside[COMMS];

static void make_comms(void)
{
    comms[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[REVERSED]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comms[HALF]);
    MPI_Comm_dup(comms[REVERSED], &comms[COPY]);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(comms[i], &beside[i]);
}

/* One call: everything that it depends on. */
struct call {
    int function, comm, root, in_place, uneven, rank, ranks;
    const struct type *type;
    int count; /* elements of a block */
    uint64_t seed;
};

/* Everybody's contribution at everybody, by MPI_Send and MPI_Recv; each pair at a time, the lower rank sends first. */
static unsigned char *reference(const struct call *c, size_t bytes)
{
    unsigned char *all = check_alloc(bytes * (size_t)c->ranks);
    MPI_Comm comm = beside[c->comm];
    contribute(c->type, c->seed, c->rank, all + bytes * (size_t)c->rank, bytes / c->type->size);
    for (int peer = 0; peer < c->ranks; peer++)
        for (int turn = 0; turn < 2 && peer != c->rank; turn++) {
            if ((c->rank < peer) == (turn == 0))
                MPI_Send(all + bytes * (size_t)c->rank, (int)bytes, MPI_BYTE, peer, 5, comm);
            else
                MPI_Recv(all + bytes * (size_t)peer, (int)bytes, MPI_BYTE, peer, 5, comm, MPI_STATUS_IGNORE);
        }
    return all;
}

/* Whether blocks may differ in length. */
static int varies(const struct call *c)
{
    return c->function >= GATHERV || c->function == REDUCE_SCATTER;
}

static int exchanges(const struct call *c)
{
    return c->function == ALLTOALL || c->function == ALLTOALLV || c->function == ALLTOALLW;
}

/* Elements of the block that goes from one rank to another: in quarters of the longest one. */
static size_t part(const struct call *c, int from, int to)
{
    uint64_t pair = (uint64_t)from * 31 + (uint64_t)to, quarters, kept = state;
    if (!varies(c) || !c->uneven)
        return (size_t)c->count;
    if (c->function == GATHERV || c->function == ALLGATHERV)
        pair = (uint64_t)from;
    else if (!exchanges(c))
        pair = (uint64_t)to;
    else if (c->in_place) /* both send as much as they get */
        pair = from < to ? pair : (uint64_t)to * 31 + (uint64_t)from;
    state = c->seed + pair;
    quarters = draw() % 5;
    state = kept;
    return (size_t)((uint64_t)c->count * quarters / 4);
}

/* Elements that a rank contributes, and that it gets. */
static size_t given(const struct call *c)
{
    size_t n = (size_t)c->count;
    int many = c->function == SCATTER || c->function == SCATTERV || exchanges(c) || c->function == REDUCE_SCATTER ||
               c->function == REDUCE_SCATTER_BLOCK;
    return many ? n * (size_t)c->ranks : n;
}

static int gets_from_all(const struct call *c)
{
    return c->function == GATHER || c->function == GATHERV || c->function == ALLGATHER || c->function == ALLGATHERV || exchanges(c);
}

static size_t got(const struct call *c)
{
    return gets_from_all(c) ? (size_t)c->count * (size_t)c->ranks : (size_t)c->count;
}

/* Elements before a rank's block, where blocks lie side by side whatever their lengths. */
static size_t before(const struct call *c, int rank)
{
    size_t n = 0;
    for (int r = 0; r < rank; r++)
        n += part(c, 0, r);
    return n;
}

/* What the call must leave in the receive buffer; 0 where it means nothing. */
static int expected(const struct call *c, const unsigned char *all, size_t bytes, unsigned char *to)
{
    size_t block = (size_t)c->count * c->type->size, n = (size_t)c->count;
    switch (c->function) {
    case GATHERV: memcpy(to, all, block * (size_t)c->ranks); return c->rank == c->root;
    case SCATTERV: memcpy(to, all + bytes * (size_t)c->root + block * (size_t)c->rank, block); return 1;
    case ALLGATHERV: memcpy(to, all, block * (size_t)c->ranks); return 1;
    case BCAST: memcpy(to, all + bytes * (size_t)c->root, block); return 1;
    case GATHER: memcpy(to, all, block * (size_t)c->ranks); return c->rank == c->root;
    case SCATTER: memcpy(to, all + bytes * (size_t)c->root + block * (size_t)c->rank, block); return 1;
    case ALLGATHER: memcpy(to, all, block * (size_t)c->ranks); return 1;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        for (int r = 0; r < c->ranks; r++)
            memcpy(to + block * (size_t)r, all + bytes * (size_t)r + block * (size_t)c->rank, block);
        return 1;
    case REDUCE: combined(c->type, all, bytes, c->ranks - 1, 0, n, to); return c->rank == c->root;
    case ALLREDUCE: combined(c->type, all, bytes, c->ranks - 1, 0, n, to); return 1;
    case REDUCE_SCATTER: combined(c->type, all, bytes, c->ranks - 1, before(c, c->rank), part(c, 0, c->rank), to); return 1;
    case REDUCE_SCATTER_BLOCK: combined(c->type, all, bytes, c->ranks - 1, n * (size_t)c->rank, n, to); return 1;
    case SCAN: combined(c->type, all, bytes, c->rank, 0, n, to); return 1;
    default:
        if (c->rank > 0)
            combined(c->type, all, bytes, c->rank - 1, 0, n, to);
        return c->rank > 0;
    }
}

/* Blocks as the functions with a v take them, or a w. */
static void perform_varied(const struct call *c, void *from, void *to)
{
    MPI_Comm comm = comms[c->comm];
    MPI_Datatype t = c->type->handle, *ts = check_alloc((size_t)c->ranks * sizeof *ts);
    int root = c->root, unit = c->function == ALLTOALLW ? (int)c->type->extent : 1, *lists = check_alloc(3 * (size_t)c->ranks * sizeof *lists);
    int *out = lists, *in = lists + c->ranks, *places = in + c->ranks;
    for (int r = 0; r < c->ranks; r++) {
        out[r] = (int)part(c, c->rank, r);
        in[r] = (int)part(c, r, c->rank);
        places[r] = r * c->count * unit;
        ts[r] = t;
    }
    switch (c->function) {
    case REDUCE_SCATTER: MPI_Reduce_scatter(from, to, out, t, c->type->op, comm); break;
    case GATHERV: MPI_Gatherv(from, out[root], t, to, in, places, t, root, comm); break;
    case SCATTERV: MPI_Scatterv(from, out, places, t, to, in[root], t, root, comm); break;
    case ALLGATHERV: MPI_Allgatherv(from, out[0], t, to, in, places, t, comm); break;
    case ALLTOALLV: MPI_Alltoallv(from, out, places, t, to, in, places, t, comm); break;
    default: MPI_Alltoallw(from, out, places, ts, to, in, places, ts, comm); break;
    }
    free(ts), free(lists);
}

static void perform(const struct call *c, void *from, void *to)
{
    MPI_Comm comm = comms[c->comm];
    MPI_Datatype t = c->type->handle;
    int n = c->count, root = c->root;
    if (varies(c)) {
        perform_varied(c, from, to);
        return;
    }
    switch (c->function) {
    case BCAST: MPI_Bcast(to, n, t, root, comm); break;
    case GATHER: MPI_Gather(from, n, t, to, n, t, root, comm); break;
    case SCATTER: MPI_Scatter(from, n, t, to, n, t, root, comm); break;
    case ALLGATHER: MPI_Allgather(from, n, t, to, n, t, comm); break;
    case ALLTOALL: MPI_Alltoall(from, n, t, to, n, t, comm); break;
    case REDUCE: MPI_Reduce(from, to, n, t, c->type->op, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(from, to, n, t, c->type->op, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(from, to, n, t, c->type->op, comm); break;
    case SCAN: MPI_Scan(from, to, n, t, c->type->op, comm); break;
    default: MPI_Exscan(from, to, n, t, c->type->op, comm); break;
    }
}

/* MPI_IN_PLACE: on all ranks, or at the root where the standard allows it there only. */
static void *in_place(const struct call *c, void *from, unsigned char *to, const unsigned char *own)
{
    size_t extent = c->type->extent, at = 0;
    if (!c->in_place || c->function == BCAST || c->function == SCATTER || c->function == SCATTERV)
        return from;
    if ((c->function == GATHER || c->function == GATHERV || c->function == REDUCE) && c->rank != c->root)
        return from;
    if (gets_from_all(c) && !exchanges(c))
        at = (size_t)c->count * (size_t)c->rank * extent;
    memcpy(to + at, own, given(c) * extent);
    return MPI_IN_PLACE;
}

/* Where a block is shorter than the longest one nothing is written. */
static void keep_gaps(const struct call *c, unsigned char *want, const unsigned char *to)
{
    size_t block = (size_t)c->count * c->type->extent;
    for (int r = 0; r < (gets_from_all(c) ? c->ranks : 1); r++) {
        size_t used = part(c, gets_from_all(c) ? r : c->root, c->rank) * c->type->extent;
        memcpy(want + block * (size_t)r + used, to + block * (size_t)r + used, block - used);
    }
}

static void compare(const struct call *c)
{
    const struct type *t = c->type;
    size_t bytes = given(c) * t->size, elements = got(c), at, room = given(c) > elements ? given(c) : elements;
    unsigned char *all = reference(c, bytes), *packed = check_alloc(elements * t->size);
    unsigned char *from = spread(t, all + bytes * (size_t)c->rank, given(c)), *to = spread(t, NULL, room), *want;
    int means = expected(c, all, bytes, packed);
    void *source = in_place(c, from, to, from);
    want = spread(t, packed, elements);
    if (c->function == BCAST && c->rank == c->root)
        memcpy(to, from, elements * t->extent);
    keep_gaps(c, want, to);
    perform(c, source, to);
    at = means ? difference(to, want, elements * t->extent) : elements * t->extent;
    if (at < elements * t->extent)
        check_fail(__FILE__, __LINE__, "%s of %d %s, communicator %d (rank %d of %d), root %d%s%s: byte %zu is %02x, not %02x",
                   names[c->function], c->count, t->name, c->comm, c->rank, c->ranks, c->root, c->in_place ? ", in place" : "",
                   c->uneven ? ", uneven" : "", at, to[at], want[at]);
    free(all), free(packed), free(from), free(to), free(want);
}

/* Makes the call of these choices fit: no more than some MiB per rank, roots that exist, operations that are defined. */
static void one(int function, int size, int type, int comm, int in_place)
{
    struct call c = {.function = function, .comm = comm, .in_place = in_place, .seed = draw()};
    uint64_t root = draw();
    MPI_Comm_rank(comms[comm], &c.rank);
    MPI_Comm_size(comms[comm], &c.ranks);
    c.root = (int)(root % (uint64_t)((check_ranks + 1) / 2)) % c.ranks;
    c.uneven = varies(&c) && root >> 32 & 1;
    c.type = &types[reduces(function) && types[type].op == MPI_OP_NULL ? MAPS : type];
    while (size > 0 && (size_t)sizes[size] * (size_t)check_ranks * (size_t)(given(&(struct call){.function = function, .count = 1, .ranks = check_ranks})) > MOST_BYTES)
        size--;
    c.count = (int)((size_t)sizes[size] / c.type->size);
    compare(&c);
}

/* The shortest data has ways of its own, of which draws would find few: all of them. */
static void small(void)
{
    for (int f = 0; f < FUNCTIONS; f++)
        for (int s = 0; sizes[s] <= 64; s++)
            for (int t = 0; t < TYPES; t++)
                for (int in_place = 0; in_place < 2; in_place++)
                    one(f, s, t, WORLD, in_place);
}

/* From one root and to one, many times without anybody waiting for all: who is fast runs ahead of who is slow, and what
 * the slow one has yet to take must stay. */
static void ahead(void)
{
    static const int lengths[] = {1, 8, 57, 300, 3000};
    unsigned char out[3000], in[3000];
    for (int i = 0; i < 400; i++) {
        int n = lengths[i % 5], root = i / 100 % check_ranks, sum = 0, value = i * check_rank, want = i * (check_ranks * (check_ranks - 1) / 2);
        memset(out, i, sizeof out);
        memset(in, ~i, sizeof in);
        if (check_rank != root && (i + check_rank) % 37 == 0)
            usleep(2000);
        MPI_Bcast(check_rank == root ? out : in, n, MPI_BYTE, root, MPI_COMM_WORLD);
        if (check_rank != root && memcmp(in, out, (size_t)n) != 0)
            check_fail(__FILE__, __LINE__, "broadcast %d of %d bytes from %d: the first is %d", i, n, root, in[0]);
        if (i / 20 % 2 == 1) {
            MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
            CHECK_EQ(sum, check_rank == root ? want : 0);
        }
    }
}

int main(int argc, char **argv)
{
    int draws, drawn = 0;
    start(&argc, &argv, "coll_differential");
    draws = argc > 1 ? atoi(argv[1]) : 150;
    state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    make_types();
    make_comms();
    if (draws == 0)
        for (int f = 0; f < FUNCTIONS; f++)
            for (int s = 0; s < SIZES; s++)
                for (int t = 0; t < TYPES; t++)
                    for (int k = 0; k < COMMS; k++)
                        one(f, s, t, k, draw() % 3 == 0);
    for (; drawn < draws; drawn++) {
        uint64_t word = draw();
        one((int)(word % FUNCTIONS), (int)(word >> 8 & 0xffff) % SIZES, (int)(word >> 24 & 0xffff) % TYPES, (int)(word >> 40 & 0xffff) % COMMS,
            draw() % 3 == 0);
    }
    small();
    ahead();
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_free(&beside[i]);
        if (i != WORLD)
            MPI_Comm_free(&comms[i]);
    }
    free_types();
    MPI_Finalize();
    return verdict();
}
