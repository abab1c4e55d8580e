// covers: MPI_Bcast MPI_Gather MPI_Scatter MPI_Allgather MPI_Alltoall MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block
// ranks: 2 3 4 5
/*
 * Collectives of intercommunicators against a reference that uses MPI_Send and MPI_Recv on an intracommunicator: every
 * cut of the ranks into two groups of at most four, and functions, sizes (of two directions), types, operations and roots
 * of either group drawn from a seed, the same on all ranks. Who gets nothing finds its buffer untouched. Arguments: how
 * many draws for each cut (0: every combination of function, size, type and root once), and the seed.
 */
#include "coll_differential.h"

enum { LARGEST_GROUP = 4 };

static MPI_Comm inter, beside;
static int upper, rank, groups[2]; /* side and rank of this process, sizes of the lower and the upper group */

/* One call: everything that it depends on. */
struct call {
    int function, side, root;
    const struct type *type;
    int count[2]; /* elements of a block, by the side that sends it */
    uint64_t seed;
};

/* The upper group's ranks run backwards. */
static int in_world(int side, int r)
{
    return side ? check_ranks - 1 - r : r;
}

/* Elements that a process of a side contributes. */
static size_t given(const struct call *c, int side)
{
    size_t n = (size_t)c->count[side];
    switch (c->function) {
    case SCATTER:
    case ALLTOALL: return n * (size_t)groups[!side];
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK: return n * (size_t)groups[0] * (size_t)groups[1];
    default: return n;
    }
}

/* Elements of this process's receive buffer. */
static size_t got(const struct call *c)
{
    size_t n = (size_t)c->count[!upper];
    int many = c->function == GATHER || c->function == ALLGATHER || c->function == ALLTOALL || c->function == REDUCE_SCATTER ||
               c->function == REDUCE_SCATTER_BLOCK;
    return many ? n * (size_t)groups[!upper] : n;
}

/* What the processes of the other group contribute, at each of this one; the lower group sends first. */
static unsigned char *reference(const unsigned char *own, size_t bytes, size_t theirs)
{
    unsigned char *all = check_alloc(theirs * (size_t)groups[!upper]);
    for (int r = 0; r < groups[!upper]; r++)
        for (int turn = 0; turn < 2; turn++) {
            int peer = in_world(!upper, r);
            if (upper == turn)
                MPI_Send(own, (int)bytes, MPI_BYTE, peer, 5, beside);
            else
                MPI_Recv(all + theirs * (size_t)r, (int)theirs, MPI_BYTE, peer, 5, beside, MPI_STATUS_IGNORE);
        }
#ifdef SEED_WRONG_GROUP_MISTAKE
    memcpy(all, own, bytes < theirs ? bytes : theirs);
#endif
    return all;
}

/* What the call must leave in the receive buffer; 0 where it leaves it alone. */
static int expected(const struct call *c, const unsigned char *all, size_t bytes, unsigned char *to)
{
    size_t n = (size_t)c->count[!upper], block = n * c->type->size, own = got(c);
    int there = groups[!upper], takes = c->side != upper, is_root = !takes && c->root == rank;
    switch (c->function) {
    case BCAST:
        if (takes)
            memcpy(to, all + bytes * (size_t)c->root, block);
        return takes;
    case SCATTER:
        if (takes)
            memcpy(to, all + bytes * (size_t)c->root + block * (size_t)rank, block);
        return takes;
    case GATHER: memcpy(to, all, block * (size_t)there); return is_root;
    case ALLGATHER: memcpy(to, all, block * (size_t)there); return 1;
    case ALLTOALL:
        for (int r = 0; r < there; r++)
            memcpy(to + block * (size_t)r, all + bytes * (size_t)r + block * (size_t)rank, block);
        return 1;
    case REDUCE: combined(c->type, all, bytes, there - 1, 0, n, to); return is_root;
    case ALLREDUCE: combined(c->type, all, bytes, there - 1, 0, n, to); return 1;
    default: combined(c->type, all, bytes, there - 1, own * (size_t)rank, own, to); return 1;
    }
}

static void perform(const struct call *c, const void *from, void *to)
{
    MPI_Datatype t = c->type->handle;
    int out = c->count[upper], in = c->count[!upper], mine = (int)got(c);
    int root = c->side != upper ? c->root : c->root == rank ? MPI_ROOT : MPI_PROC_NULL;
    switch (c->function) {
    case BCAST: MPI_Bcast(to, in, t, root, inter); break;
    case GATHER: MPI_Gather(from, out, t, to, in, t, root, inter); break;
    case SCATTER: MPI_Scatter(from, out, t, to, in, t, root, inter); break;
    case ALLGATHER: MPI_Allgather(from, out, t, to, in, t, inter); break;
    case ALLTOALL: MPI_Alltoall(from, out, t, to, in, t, inter); break;
    case REDUCE: MPI_Reduce(from, to, in, t, c->type->op, root, inter); break;
    case ALLREDUCE: MPI_Allreduce(from, to, in, t, c->type->op, inter); break;
    case REDUCE_SCATTER: {
        int counts[LARGEST_GROUP];
        for (int r = 0; r < groups[upper]; r++)
            counts[r] = mine;
        MPI_Reduce_scatter(from, to, counts, t, c->type->op, inter);
        break;
    }
    default: MPI_Reduce_scatter_block(from, to, mine, t, c->type->op, inter); break;
    }
}

static void compare(const struct call *c)
{
    const struct type *t = c->type;
    size_t elements = got(c), bytes = given(c, upper) * t->size, theirs = given(c, !upper) * t->size, length = elements * t->extent, at;
    unsigned char *own = check_alloc(bytes), *packed = check_alloc(elements * t->size), *all, *from, *to, *want;
    contribute(t, c->seed, check_rank, own, given(c, upper));
    all = reference(own, bytes, theirs);
    from = spread(t, own, given(c, upper)), to = spread(t, NULL, elements);
    want = spread(t, expected(c, all, theirs, packed) ? packed : NULL, elements);
    if (c->function == BCAST && c->side == upper && c->root == rank)
        memcpy(to, from, length), memcpy(want, from, length);
    perform(c, from, to);
    at = difference(to, want, length);
    if (at < length)
        check_fail(__FILE__, __LINE__, "%s of %d and %d %s, groups of %d and %d, rank %d of the %s one, root %d of the %s one: byte %zu is %02x, not %02x",
                   names[c->function], c->count[0], c->count[1], t->name, groups[0], groups[1], rank, upper ? "upper" : "lower", c->root,
                   c->side ? "upper" : "lower", at, to[at], want[at]);
    free(own), free(packed), free(all), free(from), free(to), free(want);
}

/* So that no process has more than some MiB. */
static int count(int function, int size, const struct type *type)
{
    struct call c = {.function = function, .count = {1, 1}};
    size_t most = given(&c, given(&c, 1) > given(&c, 0)) * (size_t)check_ranks;
    while ((size_t)sizes[size] * most > MOST_BYTES)
        size--;
    return (int)((size_t)sizes[size] / type->size);
}

static void one(int function, int size, int back, int type, int side, int root)
{
    struct call c = {.function = function, .side = side, .root = root, .seed = draw()};
    int two_ways = function == ALLGATHER || function == ALLTOALL;
    c.type = &types[reduces(function) && types[type].op == MPI_OP_NULL ? MAPS : type];
    c.count[0] = count(function, size, c.type);
    c.count[1] = two_ways ? count(function, back, c.type) : c.count[0];
    compare(&c);
}

static int is_rooted(int function)
{
    return function == BCAST || function == GATHER || function == SCATTER || function == REDUCE;
}

/* Every size of one direction meets another one of the other. */
static void all_of_them(void)
{
    for (int f = 0; f < BETWEEN_GROUPS; f++)
        for (int s = 0; s < SIZES; s++)
            for (int t = 0; t < TYPES; t++)
                for (int root = 0; root < (is_rooted(f) ? check_ranks : 1); root++)
                    one(f, s, (s * 5 + t) % SIZES, t, root >= groups[0], root >= groups[0] ? root - groups[0] : root);
}

static void drawn(int draws)
{
    for (int i = 0; i < draws; i++) {
        uint64_t word = draw(), more = draw();
        int side = (int)(more & 1), root = (int)(more >> 8 & 0xffff) % groups[side];
        one((int)(word % BETWEEN_GROUPS), (int)(word >> 8 & 0xffff) % SIZES, (int)(word >> 24 & 0xffff) % SIZES,
            (int)(word >> 40 & 0xffff) % TYPES, side, root);
    }
}

static void cut(int low, int draws)
{
    MPI_Comm half;
    upper = check_rank >= low;
    groups[0] = low, groups[1] = check_ranks - low;
    MPI_Comm_split(MPI_COMM_WORLD, upper, upper ? -check_rank : check_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, in_world(!upper, 0), 77, &inter);
    if (draws == 0)
        all_of_them();
    else
        drawn(draws);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int draws;
    start(&argc, &argv, "coll_differential_inter");
    draws = argc > 1 ? atoi(argv[1]) : 100;
    state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    make_types();
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    for (int low = 1; low < check_ranks; low++)
        if (low <= LARGEST_GROUP && check_ranks - low <= LARGEST_GROUP)
            cut(low, draws);
    MPI_Comm_free(&beside);
    free_types();
    return finish();
}
