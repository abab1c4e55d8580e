// covers: MPI_Dist_graph_create MPI_Dist_graph_create_adjacent MPI_Dist_graph_neighbors_count MPI_Dist_graph_neighbors MPI_Topo_test
// ranks: 1 2 3 4 6 8
/*
 * Distributed graphs, MPI 5.0 section 8.5.4. Edges are drawn by a formula that every process can compute, so that each
 * knows what its neighbours must be. Edge e of rank r goes to (r + target(r, e)) % size and weighs weight(r, e).
 */
#include "check.h"

#define MOST 64

static int degree(int r)
{
    return r % 4; /* some have none */
}

static int target(int r, int e, int size)
{
    return (r + e * e + (e > 1 ? r : 0)) % size; /* loops and doubles among them */
}

static int weight(int r, int e)
{
    return (r * 7 + e * 3) % 11;
}

struct list {
    int n, rank[MOST], weight[MOST];
};

static void outgoing(int r, int size, struct list *l)
{
    l->n = 0;
    for (int e = 0; e < degree(r); e++)
        l->rank[l->n] = target(r, e, size), l->weight[l->n++] = weight(r, e);
}

static void incoming(int r, int size, struct list *l)
{
    l->n = 0;
    for (int from = 0; from < size; from++)
        for (int e = 0; e < degree(from); e++)
            if (target(from, e, size) == r)
                l->rank[l->n] = from, l->weight[l->n++] = weight(from, e);
}

/* The same pairs, in any order if `sorted`. */
static void same(const char *what, const struct list *want, const int *ranks, const int *weights, int sorted)
{
    int used[MOST] = {0};
    for (int k = 0; k < want->n; k++) {
        int found = 0;
        for (int i = 0; i < want->n && !found; i++)
            if (!used[i] && (sorted || i == k) && want->rank[k] == ranks[i] && (!weights || want->weight[k] == weights[i]))
                used[i] = found = 1;
        CHECK_MSG(found, "%s: no edge with %d of weight %d at %d", what, want->rank[k], want->weight[k], k);
    }
}

static void check_graph(const char *what, MPI_Comm c, int weighted, int sorted)
{
    int rank, size, kind = -1, in = -1, out = -1, flag = -1, from[2][MOST], to[2][MOST], again[2][MOST];
    struct list sources, destinations;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, check_ranks);
    outgoing(rank, size, &destinations);
    incoming(rank, size, &sources);
    MPI_Topo_test(c, &kind);
    CHECK_EQ(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &flag);
    CHECK_EQ(in, sources.n);
    CHECK_EQ(out, destinations.n);
    CHECK_EQ(!!flag, weighted);
    memset(from, 0x55, sizeof from), memset(to, 0x55, sizeof to), memset(again, 0x55, sizeof again);
    MPI_Dist_graph_neighbors(c, MOST, from[0], from[1], MOST, to[0], to[1]);
    same(what, &sources, from[0], weighted ? from[1] : NULL, sorted);
    same(what, &destinations, to[0], weighted ? to[1] : NULL, sorted);
    CHECK(from[0][in] == 0x55555555 && to[0][out] == 0x55555555);
    MPI_Dist_graph_neighbors(c, in, again[0], MPI_UNWEIGHTED, out / 2, again[1], MPI_UNWEIGHTED); /* a part, and the same */
    CHECK(memcmp(again[0], from[0], sizeof(int) * (size_t)in) == 0);
    CHECK(memcmp(again[1], to[0], sizeof(int) * (size_t)(out / 2)) == 0);
    CHECK_EQ(again[1][out / 2], 0x55555555);
}

static void checked(const char *what, MPI_Comm c, int weighted, int sorted, int reorder)
{
    MPI_Comm copy;
    int rank = -1;
    MPI_Comm_rank(c, &rank);
    if (!reorder)
        CHECK_EQ(rank, check_rank);
    check_graph(what, c, weighted, sorted);
    MPI_Comm_dup(c, &copy);
    MPI_Comm_free(&c);
    check_graph(what, copy, weighted, sorted);
    MPI_Comm_free(&copy);
}

/* Each names its own neighbours, whose order is kept. */
static void adjacent(int weighted, int reorder)
{
    struct list in, out;
    MPI_Comm c;
    int *none = MPI_UNWEIGHTED;
    incoming(check_rank, check_ranks, &in);
    outgoing(check_rank, check_ranks, &out);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.n, in.rank, !weighted ? none : in.n ? in.weight : MPI_WEIGHTS_EMPTY, out.n,
                                   out.rank, !weighted ? none : out.n ? out.weight : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, reorder, &c);
    checked("adjacent", c, weighted, 0, reorder);
}

/* Rank r names the edges of `owner(r)`, or one rank names all. */
static void named(int weighted, int reorder, int how)
{
    int n = 0, sources[MOST], degrees[MOST], destinations[4 * MOST], weights[4 * MOST], edges = 0;
    MPI_Comm c;
    MPI_Info info;
    for (int r = 0; r < check_ranks; r++) {
        int mine = how == 0 ? r == check_rank : how == 1 ? (r + 1) % check_ranks == check_rank : check_rank == check_ranks - 1;
        if (mine && how < 2) {
            sources[n] = r, degrees[n++] = degree(r);
            for (int e = 0; e < degree(r); e++)
                destinations[edges] = target(r, e, check_ranks), weights[edges++] = weight(r, e);
        }
        for (int e = 0; e < degree(r) && mine && how == 2; e++) { /* a node may come several times */
            sources[n] = r, degrees[n++] = 1;
            destinations[edges] = target(r, e, check_ranks), weights[edges++] = weight(r, e);
        }
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "nonsense", "1");
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                          !weighted ? MPI_UNWEIGHTED : edges ? weights : MPI_WEIGHTS_EMPTY, info, reorder, &c);
    MPI_Info_free(&info);
    checked("named", c, weighted, 1, reorder);
}

static void mistakes(void)
{
    int one[2] = {1, 1}, zero[2] = {0, 0}, wild[2] = {check_ranks, 0}, below[2] = {-1, 0}, out[8];
    MPI_Comm w, c = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
#define ADJACENT(in, s, sw, outs, d, dw) MPI_Dist_graph_create_adjacent(w, in, s, sw, outs, d, dw, MPI_INFO_NULL, 0, &c)
#define NAMED(n, s, g, d, weights) MPI_Dist_graph_create(w, n, s, g, d, weights, MPI_INFO_NULL, 0, &c)
    CHECK_CLASS(ADJACENT(-1, zero, MPI_UNWEIGHTED, 0, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(ADJACENT(0, zero, MPI_UNWEIGHTED, -1, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(ADJACENT(1, wild, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED), MPI_ERR_RANK);
    CHECK_CLASS(ADJACENT(1, zero, MPI_UNWEIGHTED, 1, below, MPI_UNWEIGHTED), MPI_ERR_RANK);
    CHECK_CLASS(ADJACENT(1, NULL, MPI_UNWEIGHTED, 1, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(ADJACENT(1, zero, below, 1, zero, one), MPI_ERR_ARG);
    CHECK_CLASS(ADJACENT(1, zero, one, 1, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(ADJACENT(1, zero, MPI_WEIGHTS_EMPTY, 1, zero, one), MPI_ERR_ARG);
    CHECK_CLASS(NAMED(-1, zero, one, zero, MPI_UNWEIGHTED), MPI_ERR_COUNT);
    CHECK_CLASS(NAMED(1, wild, one, zero, MPI_UNWEIGHTED), MPI_ERR_RANK);
    CHECK_CLASS(NAMED(1, zero, below, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(NAMED(1, zero, one, below, MPI_UNWEIGHTED), MPI_ERR_RANK);
    CHECK_CLASS(NAMED(1, zero, one, zero, below), MPI_ERR_ARG);
    CHECK_CLASS(NAMED(1, zero, one, NULL, MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK_CLASS(NAMED(1, zero, one, zero, NULL), MPI_ERR_ARG);
    CHECK(c == MPI_COMM_SELF);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(w, out, out, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors(w, 1, out, out, 1, out, out), MPI_ERR_TOPOLOGY);
    CHECK_EQ(ADJACENT(1, &check_rank, one, 1, &check_rank, one), MPI_SUCCESS);
    CHECK_CLASS(MPI_Graphdims_get(c, out, out + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors(c, -1, out, out, 1, out, out), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Dist_graph_neighbors(c, 1, NULL, out, 1, out, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(c, NULL, out, out), MPI_ERR_ARG);
    MPI_Comm_free(&c), MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "topo_dist_graph");
    for (int weighted = 0; weighted < 2; weighted++)
        for (int reorder = 0; reorder < 2; reorder++) {
            adjacent(weighted, reorder);
            for (int how = 0; how < 3; how++)
                named(weighted, reorder, how);
        }
    mistakes();
    return finish();
}
