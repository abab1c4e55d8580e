// covers: MPI_Cart_create MPI_Dims_create MPI_Topo_test MPI_Cartdim_get MPI_Cart_get MPI_Cart_rank MPI_Cart_coords MPI_Cart_shift MPI_Cart_sub MPI_Cart_map
// ranks: 1 2 3 4 6 8
/*
 * Grids, MPI 5.0 section 8.5: compared with coordinates that are counted by hand. Every rank adds 1 to the last
 * coordinate and carries over.
 */
#include "check.h"

#define DIMS 4

static int kind_of(MPI_Comm c)
{
    int kind = -1;
    MPI_Topo_test(c, &kind);
    return kind;
}

static void count_up(int ndims, const int *dims, int *coords)
{
    for (int d = ndims - 1; d >= 0; d--) {
        if (++coords[d] < dims[d])
            return;
        coords[d] = 0;
    }
}

/* The rank that is found by walking, or MPI_PROC_NULL beyond an edge. */
static int walked(int ndims, const int *dims, const int *periods, const int *from, int dim, int steps)
{
    int at[DIMS], rank = 0;
    memcpy(at, from, sizeof at);
    for (int way = steps < 0 ? -1 : 1; steps != 0; steps -= way) {
        at[dim] += way;
        if (at[dim] < 0 || at[dim] >= dims[dim]) {
            if (!periods[dim])
                return MPI_PROC_NULL;
            at[dim] = way > 0 ? 0 : dims[dim] - 1;
        }
    }
    for (int d = 0; d < ndims; d++)
        rank = rank * dims[d] + at[d];
    return rank;
}

/* Everything that a grid says of itself. */
static void check_grid(MPI_Comm c, int ndims, const int *dims, const int *periods)
{
    int rank, size, product = 1, n = -1, got[3][DIMS + 1], coords[DIMS] = {0}, mine[DIMS] = {0};
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    for (int d = 0; d < ndims; d++)
        product *= dims[d];
    CHECK_EQ(size, product);
    CHECK_EQ(kind_of(c), MPI_CART);
    MPI_Cartdim_get(c, &n);
    CHECK_EQ(n, ndims);
    for (int r = 0; r < size; r++) {
        int there = -1, out[DIMS], far[DIMS];
        memset(out, 0x55, sizeof out);
        MPI_Cart_coords(c, r, ndims, out);
        for (int d = 0; d < ndims; d++) {
            CHECK_EQ(out[d], coords[d]);
            far[d] = periods[d] ? out[d] + dims[d] * ((r + d) % 7 - 3) : out[d];
        }
        MPI_Cart_rank(c, far, &there);
        CHECK_EQ(there, r);
        if (r == rank)
            memcpy(mine, coords, sizeof mine);
        count_up(ndims, dims, coords);
    }
    memset(got, 0x55, sizeof got);
    MPI_Cart_get(c, ndims + (ndims < DIMS), got[0], got[1], got[2]);
    for (int d = 0; d < ndims; d++) {
        CHECK_EQ(got[0][d], dims[d]);
        CHECK_EQ(!!got[1][d], periods[d]);
        CHECK_EQ(got[2][d], mine[d]);
    }
    CHECK_EQ(got[0][ndims], 0x55555555); /* nothing beyond */
    for (int d = 0; d < ndims; d++)
        for (int steps = -5; steps <= 5; steps++) {
            int from = -7, to = -7;
            MPI_Cart_shift(c, d, steps, &from, &to);
            CHECK_EQ(from, walked(ndims, dims, periods, mine, d, -steps));
            CHECK_EQ(to, walked(ndims, dims, periods, mine, d, steps));
        }
}

/* Messages go where the grid says. */
static void shift_data(MPI_Comm c, int ndims)
{
    for (int d = 0; d < ndims; d++) {
        int from, to, rank, got = -9;
        MPI_Comm_rank(c, &rank);
        MPI_Cart_shift(c, d, 1, &from, &to);
        MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, c, MPI_STATUS_IGNORE);
        CHECK_EQ(got, from == MPI_PROC_NULL ? -9 : from);
    }
}

/* All parts that keep a set of dimensions. */
static void check_parts(MPI_Comm c, int ndims, const int *dims, const int *periods)
{
    int size, rank, mine[DIMS] = {0};
    MPI_Comm_size(c, &size);
    MPI_Comm_rank(c, &rank);
    MPI_Cart_coords(c, rank, ndims, mine);
    for (int set = 0; set < 1 << ndims; set++) {
        MPI_Comm part = MPI_COMM_NULL;
        int keep[DIMS] = {0}, kept[DIMS], wraps[DIMS], n = 0, here, members, number = 0, sum = -1, want = 0;
        for (int d = 0; d < ndims; d++) {
            keep[d] = (set >> d & 1) * 3; /* any number but 0 is true */
            if (keep[d])
                kept[n] = dims[d], wraps[n++] = periods[d], number = number * dims[d] + mine[d];
        }
        MPI_Cart_sub(c, keep, &part);
        check_grid(part, n, kept, wraps);
        MPI_Comm_rank(part, &here);
        MPI_Comm_size(part, &members);
        CHECK_EQ(here, number);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
        for (int r = 0; r < size; r++) { /* who agrees in all that is not kept */
            int other[DIMS], same = 1;
            MPI_Cart_coords(c, r, ndims, other);
            for (int d = 0; d < ndims; d++)
                same &= keep[d] || other[d] == mine[d];
            want += same ? r : 0;
        }
        CHECK_EQ(sum, want);
        MPI_Comm_free(&part);
    }
}

static void grid(int ndims, const int *dims, const int *periods, int reorder)
{
    MPI_Comm c = MPI_COMM_SELF, copy;
    int product = 1, members, rank = -1, both[2], all[2], result = -1;
    for (int d = 0; d < ndims; d++)
        product *= dims[d];
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &c);
    both[0] = c != MPI_COMM_NULL;
    MPI_Allreduce(both, &members, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(members, product);
    if (c == MPI_COMM_NULL) {
        CHECK(reorder || check_rank >= product);
        return;
    }
    MPI_Comm_rank(c, &rank);
    if (!reorder)
        CHECK_EQ(rank, check_rank);
    both[0] = rank, both[1] = rank * rank;
    MPI_Allreduce(both, all, 2, MPI_INT, MPI_SUM, c);
    CHECK_EQ(all[0], product * (product - 1) / 2);
    CHECK_EQ(all[1], (product - 1) * product * (2 * product - 1) / 6);
    check_grid(c, ndims, dims, periods);
    shift_data(c, ndims);
    check_parts(c, ndims, dims, periods);
    MPI_Comm_dup(c, &copy); /* the topology is copied */
    MPI_Comm_free(&c);
    check_grid(copy, ndims, dims, periods);
    shift_data(copy, ndims);
    MPI_Comm_split(copy, 0, 0, &c); /* here it is not */
    CHECK_EQ(kind_of(c), MPI_UNDEFINED);
    MPI_Comm_compare(c, copy, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_free(&c);
    MPI_Request q;
    MPI_Comm_idup(copy, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check_grid(c, ndims, dims, periods);
    MPI_Comm_free(&c), MPI_Comm_free(&copy);
}

static void grids(void)
{
    int n = check_ranks;
    for (int wraps = 0; wraps < 8; wraps++)
        for (int ndims = 0; ndims <= 3; ndims++) {
            int dims[3] = {0, 0, 0}, periods[3] = {wraps & 1, wraps >> 1 & 1, wraps >> 2 & 1};
            MPI_Dims_create(n, ndims, dims);
            grid(ndims, dims, periods, wraps % 2);
            if (ndims && dims[0] > 1) { /* smaller than the communicator */
                dims[0]--;
                grid(ndims, dims, periods, wraps / 2 % 2);
            }
        }
    int four[4] = {1, n, 1, 1}, mixed[4] = {1, 0, 1, 0};
    grid(4, four, mixed, 0);
}

/* The numbers that are filled in are as close to each other as they can be, found by trying all. */
static int closest(int rest, int count, int limit, int first)
{
    int best = 1 << 30;
    if (count == 1)
        return rest <= limit ? (first ? first : rest) - rest : best;
    for (int f = 1; f <= limit && f <= rest; f++)
        if (rest % f == 0) {
            int spread = closest(rest / f, count - 1, f, first ? first : f);
            best = spread < best ? spread : best;
        }
    return best;
}

static void dimensions(void)
{
    for (int n = 1; n <= 120; n++)
        for (int ndims = 1; ndims <= 3; ndims++) {
            int dims[3] = {0, 0, 0}, product = 1;
            MPI_Dims_create(n, ndims, dims);
            for (int d = 0; d < ndims; d++) {
                product *= dims[d];
                CHECK(d == 0 || dims[d] <= dims[d - 1]);
            }
            CHECK_EQ(product, n);
            CHECK_EQ(dims[0] - dims[ndims - 1], closest(n, ndims, n, 0));
        }
    int given[4] = {0, 3, 0, 2}; /* what is given stays; the others are ordered */
    MPI_Dims_create(72, 4, given);
    CHECK(given[0] == 4 && given[1] == 3 && given[2] == 3 && given[3] == 2);
}

/* A place for everybody in the grid, or none; local. */
static void maps(void)
{
    int dims[1] = {check_ranks > 1 ? check_ranks - 1 : 1}, yes[1] = {1}, mine = -7, all[64], seen = 0;
    MPI_Cart_map(MPI_COMM_WORLD, 1, dims, yes, &mine);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_ranks; r++)
        if (all[r] != MPI_UNDEFINED) {
            CHECK(all[r] >= 0 && all[r] < dims[0]);
            seen |= 1 << all[r];
        }
    CHECK_EQ(seen, (1 << dims[0]) - 1);
}

static void mistakes(void)
{
    int dims[2] = {check_ranks, 1}, yes[2] = {1, 0}, zero[2] = {0, 1}, large[2] = {check_ranks + 1, 1}, huge[2] = {1 << 30, 1 << 30};
    int negative[2] = {-2, 0}, out[2], three[2] = {0, 3}, coords[2] = {0, 1};
    MPI_Comm w, c, other = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* MPI_Dims_create has no communicator */
    CHECK_CLASS(MPI_Cart_create(w, -1, dims, yes, 0, &other), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(w, 2, zero, yes, 0, &other), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(w, 2, large, yes, 0, &other), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_create(w, 2, huge, yes, 0, &other), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_create(w, 2, NULL, yes, 0, &other), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_create(w, 2, dims, yes, 0, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_map(w, 2, large, yes, out), MPI_ERR_TOPOLOGY);
    CHECK(other == MPI_COMM_SELF);
    CHECK_CLASS(MPI_Dims_create(7, 2, three), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(4, 2, negative), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(0, 2, three), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dims_create(4, -1, three), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cartdim_get(w, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_get(w, 2, out, out, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_rank(w, dims, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_coords(w, 0, 2, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_shift(w, 0, 1, out, out + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_sub(w, yes, &other), MPI_ERR_TOPOLOGY);
    MPI_Cart_create(w, 2, dims, yes, 0, &c);
    CHECK_CLASS(MPI_Graphdims_get(c, out, out + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(c, out, out, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_get(c, 1, out, out, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_coords(c, check_ranks, 2, out), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(c, MPI_PROC_NULL, 2, out), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(c, 0, -1, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_rank(c, coords, out), MPI_ERR_ARG); /* beyond the edge */
    CHECK_CLASS(MPI_Cart_shift(c, 2, 1, out, out + 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_shift(c, -1, 1, out, out + 1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Cart_sub(c, NULL, &other), MPI_ERR_ARG);
    MPI_Comm_free(&c), MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "topo_cart");
    CHECK_EQ(kind_of(MPI_COMM_WORLD), MPI_UNDEFINED);
    grids();
    dimensions();
    maps();
    mistakes();
    return finish();
}
