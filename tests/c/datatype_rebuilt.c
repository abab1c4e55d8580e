// covers: MPI_Type_get_envelope MPI_Type_get_contents MPI_Type_get_envelope_c MPI_Type_get_contents_c MPI_Type_contiguous MPI_Type_vector MPI_Type_create_hvector MPI_Type_indexed MPI_Type_create_hindexed MPI_Type_create_indexed_block MPI_Type_create_hindexed_block MPI_Type_create_struct MPI_Type_create_subarray MPI_Type_create_darray MPI_Type_create_resized MPI_Type_dup MPI_Type_vector_c MPI_Type_create_hvector_c MPI_Type_indexed_c MPI_Type_create_hindexed_c MPI_Type_create_indexed_block_c MPI_Type_create_hindexed_block_c MPI_Type_create_struct_c MPI_Type_create_subarray_c MPI_Type_create_darray_c MPI_Type_create_resized_c MPI_Type_contiguous_c MPI_Type_get_true_extent MPI_Type_size MPI_Pack MPI_Unpack MPI_Pack_size
// ranks: 1
/*
 * Random types are taken apart by their envelopes and contents (MPI 5.0 section 5.1.13) and built again from what those
 * say, all the way down: the copy has the same type map. Each kind of constructor by turns with int and with MPI_Count.
 */
#include "check.h"
#include <limits.h>
#include <stdint.h>

enum { ROUNDS = 1500, MOST = 6, SPACE = 1 << 20, LARGEST = 1 << 17 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static int below(int limit)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state * 0x2545f4914f6cdd1du >> 33) % (uint64_t)limit);
}

static int between(int low, int high) { return low + below(high - low + 1); }

static MPI_Datatype named(void)
{
    const MPI_Datatype all[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_INT64_T, MPI_C_DOUBLE_COMPLEX, MPI_SHORT_INT};
    return all[below(8)];
}

static int is_named(MPI_Datatype t)
{
    MPI_Count a, b, c, d;
    int combiner;
    MPI_Type_get_envelope_c(t, &a, &b, &c, &d, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* Where a grid's processes are and what they get. */
struct grid {
    int sizes[3], subsizes[3], starts[3], distributions[3], arguments[3], processes[3];
    MPI_Count wide_sizes[3], wide_subsizes[3], wide_starts[3];
};

static struct grid a_grid(int n)
{
    struct grid g;
    for (int i = 0; i < n; i++) {
        g.wide_sizes[i] = g.sizes[i] = between(1, 5);
        g.wide_subsizes[i] = g.subsizes[i] = between(1, g.sizes[i]);
        g.wide_starts[i] = g.starts[i] = below(g.sizes[i] - g.subsizes[i] + 1);
        g.processes[i] = between(1, 2);
        g.distributions[i] = (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}[below(3)];
        if (g.distributions[i] == MPI_DISTRIBUTE_NONE)
            g.processes[i] = 1;
        g.arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
    }
    return g;
}

static MPI_Datatype tree(int depth);

/* One constructor around another random type. */
static MPI_Datatype around(MPI_Datatype in, int depth)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, parts[MOST];
    int n = below(MOST), block = below(4), lengths[MOST], places[MOST], kind = below(12), wide = below(2);
    MPI_Count wide_lengths[MOST], wide_places[MOST];
    MPI_Aint bytes[MOST];
    struct grid g = a_grid(3);
    int dims = between(1, 3), order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, all = 1;
    for (int i = 0; i < dims; i++)
        all *= g.processes[i];
    for (int i = 0; i < n; i++) {
        wide_lengths[i] = lengths[i] = below(3), places[i] = between(-9, 9);
        wide_places[i] = bytes[i] = between(-200, 200);
    }
#define EITHER(narrow, large) ((void)(wide ? (large) : (narrow)))
    switch (kind) {
    case 0: EITHER(MPI_Type_contiguous(n, in, &t), MPI_Type_contiguous_c(n, in, &t)); break;
    case 1: EITHER(MPI_Type_vector(n, block, places[0] * (n > 0), in, &t), MPI_Type_vector_c(n, block, n > 0 ? places[0] : 0, in, &t)); break;
    case 2: EITHER(MPI_Type_create_hvector(n, block, n > 0 ? bytes[0] : 0, in, &t), MPI_Type_create_hvector_c(n, block, n > 0 ? wide_places[0] : 0, in, &t)); break;
    case 3:
        for (int i = 0; i < n; i++)
            wide_places[i] = places[i];
        EITHER(MPI_Type_indexed(n, lengths, places, in, &t), MPI_Type_indexed_c(n, wide_lengths, wide_places, in, &t));
        break;
    case 4: EITHER(MPI_Type_create_hindexed(n, lengths, bytes, in, &t), MPI_Type_create_hindexed_c(n, wide_lengths, wide_places, in, &t)); break;
    case 5:
        for (int i = 0; i < n; i++)
            wide_places[i] = places[i];
        EITHER(MPI_Type_create_indexed_block(n, block, places, in, &t), MPI_Type_create_indexed_block_c(n, block, wide_places, in, &t));
        break;
    case 6: EITHER(MPI_Type_create_hindexed_block(n, block, bytes, in, &t), MPI_Type_create_hindexed_block_c(n, block, wide_places, in, &t)); break;
    case 7:
        for (int i = 0; i < n; i++)
            parts[i] = i == 0 ? in : tree(depth - 1);
        EITHER(MPI_Type_create_struct(n, lengths, bytes, parts, &t), MPI_Type_create_struct_c(n, wide_lengths, wide_places, parts, &t));
        for (int i = 1; i < n; i++)
            if (!is_named(parts[i]))
                MPI_Type_free(&parts[i]);
        break;
    case 8: EITHER(MPI_Type_create_subarray(dims, g.sizes, g.subsizes, g.starts, order, in, &t), MPI_Type_create_subarray_c(dims, g.wide_sizes, g.wide_subsizes, g.wide_starts, order, in, &t)); break;
    case 9: EITHER(MPI_Type_create_darray(all, below(all), dims, g.sizes, g.distributions, g.arguments, g.processes, order, in, &t), MPI_Type_create_darray_c(all, below(all), dims, g.wide_sizes, g.distributions, g.arguments, g.processes, order, in, &t)); break;
    case 10: EITHER(MPI_Type_create_resized(in, between(-20, 20), between(0, 60), &t), MPI_Type_create_resized_c(in, between(-20, 20), between(0, 60), &t)); break;
    default: MPI_Type_dup(in, &t);
    }
    return t;
}

static MPI_Datatype tree(int depth)
{
    MPI_Datatype in, t;
    if (depth <= 0)
        return named();
    in = tree(depth - 1);
    t = around(in, depth);
    if (!is_named(in))
        MPI_Type_free(&in);
    return t;
}

/* What was said of a type, in the widest integers; of a type of int constructors by MPI_Type_get_contents too. */
struct contents {
    MPI_Count ni, na, nc, nd, counts[64];
    int combiner, integers[64];
    MPI_Aint addresses[64];
    MPI_Datatype types[64];
};

static struct contents taken_apart(MPI_Datatype t)
{
    struct contents c;
    memset(&c, 0, sizeof c);
    MPI_Type_get_envelope_c(t, &c.ni, &c.na, &c.nc, &c.nd, &c.combiner);
    CHECK(c.ni <= 64 && c.na <= 64 && c.nc <= 64 && c.nd <= 64);
    if (c.combiner != MPI_COMBINER_NAMED)
        MPI_Type_get_contents_c(t, c.ni, c.na, c.nc, c.nd, c.integers, c.addresses, c.counts, c.types);
    if (c.combiner != MPI_COMBINER_NAMED && c.nc == 0) {
        int ni = -1, na = -1, nd = -1, combiner = -1, integers[64];
        MPI_Aint addresses[64];
        MPI_Datatype types[64];
        MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
        CHECK(ni == c.ni && na == c.na && nd == c.nd && combiner == c.combiner);
        MPI_Type_get_contents(t, ni, na, nd, integers, addresses, types);
        CHECK(memcmp(integers, c.integers, sizeof(int) * (size_t)ni) == 0);
        CHECK(memcmp(addresses, c.addresses, sizeof(MPI_Aint) * (size_t)na) == 0);
        for (int i = 0; i < nd; i++)
            if (!is_named(types[i]))
                MPI_Type_free(&types[i]);
    }
    return c;
}

/* The constructor of `c` called again with its arguments: table 5.1 of the standard. */
static MPI_Datatype put_together(const struct contents *c, const MPI_Datatype *in)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    const int *i = c->integers, n = i[0];
    const MPI_Count *w = c->counts, m = w[0];
    const MPI_Aint *a = c->addresses;
    int wide = c->nc > 0;
#ifdef SEED_REBUILT_MISTAKE /* one argument is not what was given */
    if (c->combiner == MPI_COMBINER_RESIZED && !wide)
        return MPI_Type_create_resized(in[0], a[0], a[1] + 1, &t), t;
#endif
    switch (c->combiner) {
    case MPI_COMBINER_DUP: MPI_Type_dup(in[0], &t); break;
    case MPI_COMBINER_CONTIGUOUS: EITHER(MPI_Type_contiguous(n, in[0], &t), MPI_Type_contiguous_c(m, in[0], &t)); break;
    case MPI_COMBINER_VECTOR: EITHER(MPI_Type_vector(n, i[1], i[2], in[0], &t), MPI_Type_vector_c(m, w[1], w[2], in[0], &t)); break;
    case MPI_COMBINER_HVECTOR: EITHER(MPI_Type_create_hvector(n, i[1], a[0], in[0], &t), MPI_Type_create_hvector_c(m, w[1], w[2], in[0], &t)); break;
    case MPI_COMBINER_INDEXED: EITHER(MPI_Type_indexed(n, i + 1, i + 1 + n, in[0], &t), MPI_Type_indexed_c(m, w + 1, w + 1 + m, in[0], &t)); break;
    case MPI_COMBINER_HINDEXED: EITHER(MPI_Type_create_hindexed(n, i + 1, a, in[0], &t), MPI_Type_create_hindexed_c(m, w + 1, w + 1 + m, in[0], &t)); break;
    case MPI_COMBINER_INDEXED_BLOCK: EITHER(MPI_Type_create_indexed_block(n, i[1], i + 2, in[0], &t), MPI_Type_create_indexed_block_c(m, w[1], w + 2, in[0], &t)); break;
    case MPI_COMBINER_HINDEXED_BLOCK: EITHER(MPI_Type_create_hindexed_block(n, i[1], a, in[0], &t), MPI_Type_create_hindexed_block_c(m, w[1], w + 2, in[0], &t)); break;
    case MPI_COMBINER_STRUCT: {
        int count = wide ? (int)m : n;
        EITHER(MPI_Type_create_struct(count, i + 1, a, in, &t), MPI_Type_create_struct_c(count, w + 1, w + 1 + count, in, &t));
        break;
    }
    /* The large ones keep what is int in the call in the integers. */
    case MPI_COMBINER_SUBARRAY: EITHER(MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], in[0], &t), MPI_Type_create_subarray_c(n, w, w + n, w + 2 * n, i[1], in[0], &t)); break;
    case MPI_COMBINER_DARRAY:
        EITHER(MPI_Type_create_darray(n, i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i + 3 + 3 * i[2], i[3 + 4 * i[2]], in[0], &t),
               MPI_Type_create_darray_c(n, i[1], i[2], w, i + 3, i + 3 + i[2], i + 3 + 2 * i[2], i[3 + 3 * i[2]], in[0], &t));
        break;
    case MPI_COMBINER_RESIZED: EITHER(MPI_Type_create_resized(in[0], a[0], a[1], &t), MPI_Type_create_resized_c(in[0], w[0], w[1], &t)); break;
    default: CHECK_MSG(0, "combiner %d", c->combiner);
    }
    return t;
}

static MPI_Datatype rebuilt(MPI_Datatype t)
{
    struct contents c = taken_apart(t);
    MPI_Datatype copies[64], made;
    if (c.combiner == MPI_COMBINER_NAMED)
        return t;
    for (MPI_Count i = 0; i < c.nd; i++)
        copies[i] = rebuilt(c.types[i]);
    made = put_together(&c, copies);
    for (MPI_Count i = 0; i < c.nd; i++) {
        if (!is_named(copies[i]))
            MPI_Type_free(&copies[i]);
        if (!is_named(c.types[i]))
            MPI_Type_free(&c.types[i]);
    }
    return made;
}

static unsigned char *space, *packed, *again, *landed;
static int compared;

/* Packing shows each byte of the type map, in order; unpacking where each goes. */
static void same_map(MPI_Datatype t, MPI_Datatype u)
{
    MPI_Count low = 0, extent = 0, true_low = 0, true_extent = 0, other[4] = {0}, size = -1, size_too = -1;
    int end = 0, end_too = 0;
    MPI_Type_size_c(t, &size), MPI_Type_size_c(u, &size_too);
    CHECK_EQ(size_too, size);
    MPI_Type_get_extent_c(t, &low, &extent), MPI_Type_get_extent_c(u, &other[0], &other[1]);
    MPI_Type_get_true_extent_c(t, &true_low, &true_extent), MPI_Type_get_true_extent_c(u, &other[2], &other[3]);
    CHECK(other[0] == low && other[1] == extent && other[2] == true_low && other[3] == true_extent);
    if (size > LARGEST || true_low < -SPACE / 2 || true_low + true_extent > SPACE / 2)
        return;
    MPI_Pack(space + SPACE / 2, 1, t, packed, LARGEST, &end, MPI_COMM_SELF);
    MPI_Pack(space + SPACE / 2, 1, u, again, LARGEST, &end_too, MPI_COMM_SELF);
    CHECK(end == size && end_too == size);
    CHECK(memcmp(packed, again, (size_t)size) == 0);
    compared += size > 0;
    /* What comes from a map with overlaps cannot be told from its unpacked bytes: only that both land the same. */
    memset(landed, 0, 2 * SPACE);
    end = end_too = 0;
    MPI_Unpack(packed, LARGEST, &end, landed + SPACE / 2, 1, t, MPI_COMM_SELF);
    MPI_Unpack(packed, LARGEST, &end_too, landed + SPACE + SPACE / 2, 1, u, MPI_COMM_SELF);
    CHECK(memcmp(landed, landed + SPACE, SPACE) == 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "datatype_rebuilt");
    space = check_alloc(SPACE), packed = check_alloc(LARGEST), again = check_alloc(LARGEST), landed = check_alloc(2 * SPACE);
    for (int i = 0; i < SPACE; i++)
        space[i] = (unsigned char)below(256);
    for (int round = 0; round < ROUNDS && check_failures == 0; round++) {
        MPI_Datatype t = tree(1 + round % 4), u = rebuilt(t);
        MPI_Type_commit(&t), MPI_Type_commit(&u);
        same_map(t, u);
        MPI_Type_free(&t), MPI_Type_free(&u);
    }
    CHECK_MSG(compared > ROUNDS / 2, "only %d types had data to compare", compared);
    return finish();
}
