// covers: MPI_Neighbor_allgather MPI_Neighbor_allgatherv MPI_Neighbor_alltoall MPI_Neighbor_alltoallv MPI_Neighbor_alltoallw MPI_Neighbor_allgather_c MPI_Neighbor_allgatherv_c MPI_Neighbor_alltoall_c MPI_Neighbor_alltoallv_c MPI_Neighbor_alltoallw_c
// ranks: 1 2 3 4 6 8
/*
 * Collectives among neighbours, MPI 5.0 section 8.6, on topologies of every kind, compared with what point-to-point
 * messages say: which block of which process belongs into which block here. neighbor_2.c and neighbor_3.c include this
 * program with the nonblocking and the persistent functions in place of the blocking ones.
 */
#include "check.h"

static int turn; /* takes ways to complete in turn */

#if defined AS_NONBLOCKING
static int completed(int code, MPI_Request *q)
{
    int flag = 0;
    if (code != MPI_SUCCESS)
        return code;
    CHECK(*q != MPI_REQUEST_NULL);
    if (turn++ % 2)
        for (int tries = 0; tries < 20 && !flag && code == MPI_SUCCESS; tries++)
            code = MPI_Test(q, &flag, MPI_STATUS_IGNORE);
    if (!flag)
        code = MPI_Wait(q, MPI_STATUS_IGNORE);
    CHECK(*q == MPI_REQUEST_NULL);
    return code;
}
#elif defined AS_PERSISTENT
static int completed(int code, MPI_Request *q)
{
    if (code != MPI_SUCCESS)
        return code;
    for (int round = 0; round < 2 && code == MPI_SUCCESS; round++) { /* equally often everywhere */
        MPI_Start(q);
        code = MPI_Wait(q, MPI_STATUS_IGNORE);
        CHECK(*q != MPI_REQUEST_NULL); /* inactive, not gone */
    }
    MPI_Request_free(q);
    return code;
}
#endif

#define MOST 64 /* neighbours */
#define GAP (-77)

/* A communicator, and whose blocks belong where: block k comes from source[k], where it is block origin[k]. */
struct among {
    const char *name;
    MPI_Comm c;
    int rank, in, out, source[MOST], destination[MOST], origin[MOST];
};

static MPI_Request request;

/* Element i of the block with which rank r fills place s. */
static int value(int r, int s, int i)
{
    return r * 1000000 + s * 10000 + i % 9973;
}

/* Tells destinations the places of their blocks: in a grid the opposite direction of the same dimension receives. */
static void find_origins(struct among *a, int grid)
{
    MPI_Request q[2 * MOST];
    int mine[MOST], n = 0;
    for (int k = 0; k < a->in; k++) {
        a->origin[k] = -1;
        MPI_Irecv(&a->origin[k], 1, MPI_INT, a->source[k], grid ? k : 0, a->c, &q[n++]);
    }
    for (int k = 0; k < a->out; k++) {
        mine[k] = k;
        MPI_Isend(&mine[k], 1, MPI_INT, a->destination[k], grid ? k ^ 1 : 0, a->c, &q[n++]);
    }
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
}

static void blocks_from_all(struct among *a, int n)
{
    int *from = check_alloc(sizeof(int) * (size_t)(n + 1)), *to = check_alloc(sizeof(int) * (size_t)(n * a->in + 1));
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < n; i++)
        from[i] = value(a->rank, 0, i);
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < n * a->in + 1; i++)
            to[i] = GAP;
        if (way == 0)
            CHECK_EQ(MPI_Neighbor_allgather(from, n, MPI_INT, to, n, MPI_INT, a->c), MPI_SUCCESS);
        else if (way == 1)
            CHECK_EQ(MPI_Neighbor_allgather_c(from, n, MPI_INT, to, n, MPI_INT, a->c), MPI_SUCCESS);
        else if (n % 2 == 0)
            CHECK_EQ(MPI_Neighbor_allgather(from, n, MPI_INT, to, n / 2, pair, a->c), MPI_SUCCESS);
        else
            continue;
        for (int k = 0, bad = 0; k < a->in; k++)
            for (int i = 0; i < n && !bad; i++) {
                int want = a->source[k] == MPI_PROC_NULL ? GAP : value(a->source[k], 0, i);
                bad = to[k * n + i] != want;
                CHECK_MSG(!bad, "%s: allgather %d of %d elements, block %d, element %d: %d instead of %d", a->name, way, n, k, i,
                          to[k * n + i], want);
            }
        CHECK_EQ(to[n * a->in], GAP);
    }
    MPI_Type_free(&pair);
    free(from), free(to);
}

/* Blocks of a size that tells who sent them, in reverse order with gaps. */
static void blocks_of_any_size_from_all(struct among *a)
{
    int n = a->rank % 3 + 1, from[3], to[MOST * 4 + 1], counts[MOST], displs[MOST];
    MPI_Count large_counts[MOST];
    MPI_Aint large_displs[MOST];
    for (int i = 0; i < n; i++)
        from[i] = value(a->rank, 0, i);
    for (int k = 0; k < a->in; k++) {
        large_counts[k] = counts[k] = a->source[k] == MPI_PROC_NULL ? 2 : a->source[k] % 3 + 1;
        large_displs[k] = displs[k] = 4 * (a->in - 1 - k);
    }
    for (int large = 0; large < 2; large++) {
        for (int i = 0; i < MOST * 4 + 1; i++)
            to[i] = GAP;
        if (large)
            CHECK_EQ(MPI_Neighbor_allgatherv_c(from, n, MPI_INT, to, large_counts, large_displs, MPI_INT, a->c), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Neighbor_allgatherv(from, n, MPI_INT, to, counts, displs, MPI_INT, a->c), MPI_SUCCESS);
        for (int k = 0; k < a->in; k++)
            for (int i = 0; i < 4; i++) {
                int there = a->source[k] != MPI_PROC_NULL && i < counts[k], got = to[displs[k] + i];
                int want = there ? value(a->source[k], 0, i) : GAP;
                CHECK_MSG(got == want, "%s: allgatherv%s, block %d, element %d: %d instead of %d", a->name, large ? "_c" : "", k, i,
                          got, want);
            }
    }
}

static void block_for_each(struct among *a, int n)
{
    int *from = check_alloc(sizeof(int) * (size_t)(n * a->out + 1));
    int *to = check_alloc(sizeof(int) * (size_t)(n * a->in + 1));
    for (int k = 0; k < a->out; k++)
        for (int i = 0; i < n; i++)
            from[k * n + i] = value(a->rank, k, i);
    for (int large = 0; large < 2; large++) {
        for (int i = 0; i < n * a->in + 1; i++)
            to[i] = GAP;
        if (large)
            CHECK_EQ(MPI_Neighbor_alltoall_c(from, n, MPI_INT, to, n, MPI_INT, a->c), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Neighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, a->c), MPI_SUCCESS);
        for (int k = 0, bad = 0; k < a->in; k++)
            for (int i = 0; i < n && !bad; i++) {
                int want = a->source[k] == MPI_PROC_NULL ? GAP : value(a->source[k], a->origin[k], i);
                bad = to[k * n + i] != want;
                CHECK_MSG(!bad, "%s: alltoall%s of %d elements, block %d, element %d: %d instead of %d", a->name,
                          large ? "_c" : "", n, k, i, to[k * n + i], want);
            }
        CHECK_EQ(to[n * a->in], GAP);
    }
    free(from), free(to);
}

/* The size of a block tells where it comes from; some are empty. */
static int edge_size(int r, int s)
{
    return (r + 2 * s) % 4;
}

static void block_of_any_size_for_each(struct among *a)
{
    int from[MOST * 4 + 1], to[MOST * 5 + 1], scounts[MOST], sdispls[MOST], rcounts[MOST], rdispls[MOST];
    MPI_Count lscounts[MOST], lrcounts[MOST];
    MPI_Aint lsdispls[MOST], lrdispls[MOST];
    for (int k = 0; k < a->out; k++) {
        lscounts[k] = scounts[k] = edge_size(a->rank, k);
        lsdispls[k] = sdispls[k] = 4 * (a->out - 1 - k);
        for (int i = 0; i < 4; i++)
            from[sdispls[k] + i] = value(a->rank, k, i);
    }
    for (int k = 0; k < a->in; k++) {
        lrcounts[k] = rcounts[k] = a->source[k] == MPI_PROC_NULL ? 3 : edge_size(a->source[k], a->origin[k]);
        lrdispls[k] = rdispls[k] = 5 * k + 1;
    }
    for (int large = 0; large < 2; large++) {
        for (int i = 0; i < MOST * 5 + 1; i++)
            to[i] = GAP;
        if (large)
            CHECK_EQ(MPI_Neighbor_alltoallv_c(from, lscounts, lsdispls, MPI_INT, to, lrcounts, lrdispls, MPI_INT, a->c), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Neighbor_alltoallv(from, scounts, sdispls, MPI_INT, to, rcounts, rdispls, MPI_INT, a->c), MPI_SUCCESS);
        for (int k = 0; k < a->in; k++)
            for (int i = -1; i < 4; i++) {
                int there = a->source[k] != MPI_PROC_NULL && i >= 0 && i < rcounts[k], got = to[rdispls[k] + i];
                int want = there ? value(a->source[k], a->origin[k], i) : GAP;
                CHECK_MSG(got == want, "%s: alltoallv%s, block %d, element %d: %d instead of %d", a->name, large ? "_c" : "", k, i,
                          got, want);
            }
    }
}

/* Three integers: every other one of six where the place is odd, three in a row where it is even, doubles at every third. */
static void block_of_any_type_for_each(struct among *a)
{
    struct {
        int ints[6];
        double doubles[3];
    } from[MOST], to[MOST];
    MPI_Datatype spread, stypes[MOST], rtypes[MOST];
    MPI_Aint sdispls[MOST], rdispls[MOST];
    int scounts[MOST], rcounts[MOST];
    MPI_Count lscounts[MOST], lrcounts[MOST];
    MPI_Type_vector(3, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    for (int k = 0; k < a->out; k++) {
        for (int i = 0; i < 6; i++)
            from[k].ints[i] = value(a->rank, k, i);
        for (int i = 0; i < 3; i++)
            from[k].doubles[i] = value(a->rank, k, i) + 0.5;
        stypes[k] = k % 3 == 2 ? MPI_DOUBLE : k % 2 ? spread : MPI_INT;
        lscounts[k] = scounts[k] = stypes[k] == spread ? 1 : 3;
        sdispls[k] = (char *)(k % 3 == 2 ? (void *)from[k].doubles : (void *)from[k].ints) - (char *)from;
    }
    for (int k = 0; k < a->in; k++) {
        int doubles = a->origin[k] % 3 == 2;
        rtypes[k] = doubles ? MPI_DOUBLE : k % 2 ? MPI_INT : spread;
        lrcounts[k] = rcounts[k] = rtypes[k] == spread ? 1 : 3;
        rdispls[k] = (char *)(doubles ? (void *)to[k].doubles : (void *)to[k].ints) - (char *)to;
    }
    for (int large = 0; large < 2; large++) {
        for (int k = 0; k < MOST; k++) {
            for (int i = 0; i < 6; i++)
                to[k].ints[i] = GAP;
            for (int i = 0; i < 3; i++)
                to[k].doubles[i] = GAP;
        }
        if (large)
            CHECK_EQ(MPI_Neighbor_alltoallw_c(from, lscounts, sdispls, stypes, to, lrcounts, rdispls, rtypes, a->c), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Neighbor_alltoallw(from, scounts, sdispls, stypes, to, rcounts, rdispls, rtypes, a->c), MPI_SUCCESS);
        for (int k = 0; k < a->in; k++) {
            int comes = a->source[k] != MPI_PROC_NULL, doubles = comes && rtypes[k] == MPI_DOUBLE;
            for (int i = 0; i < 3; i++) {
                int at = rtypes[k] == spread ? 2 * i : i, which = a->origin[k] % 2 ? 2 * i : i;
                int want = comes && !doubles ? value(a->source[k], a->origin[k], which) : GAP;
                double third = doubles ? value(a->source[k], a->origin[k], i) + 0.5 : GAP;
                CHECK_MSG(to[k].ints[at] == want, "%s: alltoallw%s, block %d: %d instead of %d", a->name, large ? "_c" : "", k,
                          to[k].ints[at], want);
                CHECK_MSG(to[k].doubles[i] == third, "%s: alltoallw%s, block %d: %f instead of %f", a->name, large ? "_c" : "", k,
                          to[k].doubles[i], third);
            }
            if (rtypes[k] == spread)
                CHECK_EQ(to[k].ints[1], GAP);
        }
    }
    MPI_Type_free(&spread);
}

#ifdef AS_NONBLOCKING
/* Several under way at the same time, completed in another order; no process waits for others in between. */
static void many_at_once(struct among *a)
{
    enum { MANY = 8, N = 50 };
    MPI_Request q[MANY];
    int *from = check_alloc(sizeof(int) * (size_t)(MANY * N * (a->out + 1)));
    int *to = check_alloc(sizeof(int) * (size_t)(MANY * N * (a->in + 1)));
    for (int m = 0; m < MANY; m++) {
        int *out = from + m * N * (a->out + 1), *in = to + m * N * (a->in + 1);
        for (int k = 0; k < a->out; k++)
            for (int i = 0; i < N; i++)
                out[k * N + i] = value(a->rank, k, i + 100 * m);
        MPI_Ineighbor_alltoall(out, N, MPI_INT, in, N, MPI_INT, a->c, &q[m]);
    }
    for (int m = MANY - 1; m >= 0; m--)
        MPI_Wait(&q[m], MPI_STATUS_IGNORE);
    for (int m = 0; m < MANY; m++)
        for (int k = 0, bad = 0; k < a->in; k++)
            for (int i = 0; i < N && !bad && a->source[k] != MPI_PROC_NULL; i++) {
                int got = to[m * N * (a->in + 1) + k * N + i];
                bad = got != value(a->source[k], a->origin[k], i + 100 * m);
                CHECK_MSG(!bad, "%s: operation %d of several, block %d, element %d: %d", a->name, m, k, i, got);
            }
    free(from), free(to);
}
#endif

#ifdef AS_PERSISTENT
/* Every start takes what lies in the buffers then; two operations are started in different orders. */
static void started_often(struct among *a)
{
    MPI_Request q[2];
    int from[2][MOST], to[2][MOST];
    for (int m = 0; m < 2; m++)
        MPI_Neighbor_alltoall_init(from[m], 1, MPI_INT, to[m], 1, MPI_INT, a->c, MPI_INFO_NULL, &q[m]);
    for (int round = 0; round < 5; round++) {
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < a->out; k++)
                from[m][k] = value(a->rank, k, 10 * round + m);
        MPI_Start(&q[(a->rank + round) % 2]);
        MPI_Start(&q[(a->rank + round + 1) % 2]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < a->in; k++)
                if (a->source[k] != MPI_PROC_NULL)
                    CHECK_MSG(to[m][k] == value(a->source[k], a->origin[k], 10 * round + m), "%s: start %d of %d, block %d: %d",
                              a->name, round, m, k, to[m][k]);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
}
#endif

static void everything(struct among *a, int grid)
{
    if (a->c == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(a->c, &a->rank);
    find_origins(a, grid);
    blocks_from_all(a, 0), blocks_from_all(a, 1), blocks_from_all(a, 6), blocks_from_all(a, 30000);
    blocks_of_any_size_from_all(a);
    block_for_each(a, 0), block_for_each(a, 1), block_for_each(a, 3), block_for_each(a, 30001);
    block_of_any_size_for_each(a);
    block_of_any_type_for_each(a);
#ifdef AS_NONBLOCKING
    many_at_once(a);
#endif
#ifdef AS_PERSISTENT
    started_often(a);
#endif
    MPI_Comm_free(&a->c);
}

static void on_grid(const char *name, int ndims, const int *dims, const int *periods, int reorder)
{
    struct among a = {.name = name};
    MPI_Comm first;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &first);
    a.c = first;
    if (first != MPI_COMM_NULL) {
        MPI_Comm_dup(first, &a.c); /* with the topology */
        MPI_Comm_free(&first);
        a.in = a.out = 2 * ndims;
        for (int d = 0; d < ndims; d++)
            MPI_Cart_shift(a.c, d, 1, &a.source[2 * d], &a.source[2 * d + 1]);
        memcpy(a.destination, a.source, sizeof a.source);
    }
    everything(&a, 1);
}

static void grids(void)
{
    int ring[1] = {check_ranks}, line[1] = {check_ranks}, yes[3] = {1, 1, 1}, no[3] = {0, 0, 0}, mixed[2] = {1, 0};
    int flat[2] = {0, 0}, deep[3] = {1, check_ranks, 1}, pairs[2] = {check_ranks / 2, 2}, cube[3] = {0, 0, 0};
    MPI_Dims_create(check_ranks, 2, flat);
    MPI_Dims_create(check_ranks, 3, cube);
    on_grid("a ring", 1, ring, yes, 0);
    on_grid("a line", 1, line, no, 1);
    on_grid("a tube", 2, flat, mixed, 1);
    on_grid("a plane with an edge", 2, flat, no, 0);
    on_grid("a torus with dimensions of 1", 3, deep, yes, 0);
    on_grid("a torus of three dimensions", 3, cube, yes, 1);
    if (check_ranks >= 2)
        on_grid("a torus with a dimension of 2", 2, pairs, yes, 0);
    on_grid("a grid without dimensions", 0, NULL, NULL, 0);
}

static void on_graph(const char *name, const int *index, const int *edges, int reorder)
{
    struct among a = {.name = name};
    MPI_Graph_create(MPI_COMM_WORLD, check_ranks, index, edges, reorder, &a.c);
    MPI_Comm_rank(a.c, &a.rank);
    MPI_Graph_neighbors_count(a.c, a.rank, &a.in);
    MPI_Graph_neighbors(a.c, a.rank, a.in, a.source);
    a.out = a.in;
    memcpy(a.destination, a.source, sizeof a.source);
    everything(&a, 0);
}

static void graphs(void)
{
    int index[64], edges[512], n = 0;
    for (int r = 0; r < check_ranks; r++) { /* a ring, every edge twice, and a loop */
        int next = (r + 1) % check_ranks, before = (r + check_ranks - 1) % check_ranks;
        edges[n++] = next, edges[n++] = r, edges[n++] = before, edges[n++] = before, edges[n++] = next;
        index[r] = n;
    }
    on_graph("a ring of double edges", index, edges, 0);
    n = 0;
    for (int r = 0; r < check_ranks; r++) { /* everybody and rank 0; none of a process alone */
        for (int other = check_ranks - 1; other > 0 && r == 0; other--)
            edges[n++] = other;
        if (r > 0)
            edges[n++] = 0;
        index[r] = n;
    }
    on_graph("a star", index, edges, 1);
}

static void on_directed(const char *name, int in, const int *sources, int out, const int *destinations)
{
    struct among a = {.name = name};
    int w[2][MOST];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &a.c);
    a.in = in, a.out = out;
    MPI_Dist_graph_neighbors(a.c, in, a.source, w[0], out, a.destination, w[1]);
    everything(&a, 0);
}

static void directed_graphs(void)
{
    int n = check_ranks, r = check_ranks, in[16], out[16], zero[1] = {0}, all[64], from[1] = {check_rank};
    r = check_rank;
    /* Twice to the next one, once to the one behind it, in between to oneself. */
    out[0] = (r + 1) % n, out[1] = r, out[2] = (r + 2) % n, out[3] = (r + 1) % n;
    in[0] = (r + n - 2) % n, in[1] = (r + n - 1) % n, in[2] = (r + n - 1) % n, in[3] = r;
    on_directed("a directed ring", 4, in, 4, out);
    for (int k = 0; k < n; k++)
        all[k] = k;
    on_directed("all to one", r ? 0 : n, all, 1, zero);
    on_directed("one to all", 1, zero, r ? 0 : n, all);
    on_directed("nobody", 0, NULL, 0, NULL);
    struct among a = {.name = "named by another"};
    int degrees[1] = {3}, three[3] = {(r + 1) % n, r, (r + 1) % n}, w[2][MOST], weighted;
    from[0] = (r + 1) % n; /* the edges of the next process */
    three[0] = three[2] = (r + 2) % n;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, from, degrees, three, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &a.c);
    MPI_Dist_graph_neighbors_count(a.c, &a.in, &a.out, &weighted);
    CHECK(a.in == 3 && a.out == 3 && !weighted);
    MPI_Dist_graph_neighbors(a.c, a.in, a.source, w[0], a.out, a.destination, w[1]);
    everything(&a, 0);
}

static void mistakes(void)
{
    int dims[1] = {check_ranks}, yes[1] = {1}, from[4] = {0}, to[64], counts[4] = {1, 1, 1, 1}, displs[4] = {0, 1, 2, 3};
    int index[64], edges[64];
    MPI_Aint bytes[4] = {0};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, raw;
    MPI_Comm c, w;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Cart_create(w, 1, dims, yes, 0, &c);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    CHECK_CLASS(MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, w), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_allgatherv(from, 1, MPI_INT, to, counts, displs, MPI_INT, w), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, w), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_alltoallv(from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, w), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_alltoallw(from, counts, bytes, types, to, counts, bytes, types, w), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, to, 1, MPI_INT, c), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_alltoall(from, 1, MPI_INT, NULL, 1, MPI_INT, c), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_allgather(from, -1, MPI_INT, to, 1, MPI_INT, c), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Neighbor_allgather(from, 1, raw, to, 1, MPI_INT, c), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Neighbor_alltoall_c(from, 1, MPI_INT, to, 1, MPI_DATATYPE_NULL, c), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Neighbor_allgatherv(from, 1, MPI_INT, to, NULL, displs, MPI_INT, c), MPI_ERR_ARG);
    counts[1] = -1;
    CHECK_CLASS(MPI_Neighbor_alltoallv(from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, c), MPI_ERR_COUNT);
    counts[1] = 1, types[1] = raw;
    CHECK_CLASS(MPI_Neighbor_alltoallw(from, counts, bytes, types, to, counts, bytes, types, c), MPI_ERR_TYPE);
    MPI_Comm_free(&c);
    for (int r = 0; r < check_ranks; r++) /* everybody to rank 0, which does not answer */
        index[r] = r, edges[r] = 0;
    MPI_Graph_create(w, check_ranks, index, edges, 0, &c);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_Neighbor_allgather(from, 1, MPI_INT, to, 1, MPI_INT, c), MPI_ERR_TOPOLOGY);
    MPI_Type_free(&raw), MPI_Comm_free(&c), MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "neighbor");
    (void)turn, (void)request;
    grids();
    graphs();
    directed_graphs();
    mistakes();
    return finish();
}
