// covers: MPI_Graph_create MPI_Graphdims_get MPI_Graph_get MPI_Graph_neighbors_count MPI_Graph_neighbors MPI_Graph_map MPI_Topo_test
// ranks: 1 2 3 4 6 8
/*
 * Graphs that every process knows, MPI 5.0 section 8.5: what comes back is what went in.
 */
#include "check.h"

#define MOST 256

static int index_[MOST], edges[MOST], nodes, count;

/* Node r has the neighbours r + 1, r + 1 + stride and so on, and is its own; some nodes have none. */
static void draw(int n, int stride)
{
    nodes = n, count = 0;
    for (int r = 0; r < n; r++) {
        if (r % 3 != 2) {
            edges[count++] = r;
            for (int to = 1; to < n; to += stride)
                edges[count++] = (r + to) % n;
            edges[count++] = (r + 1) % n; /* once more */
        }
        index_[r] = count;
    }
}

static void check_graph(MPI_Comm c)
{
    int kind = -1, n = -1, m = -1, in[MOST + 1], out[MOST + 1];
    MPI_Topo_test(c, &kind);
    CHECK_EQ(kind, MPI_GRAPH);
    MPI_Graphdims_get(c, &n, &m);
    CHECK_EQ(n, nodes);
    CHECK_EQ(m, count);
    memset(in, 0x55, sizeof in), memset(out, 0x55, sizeof out);
    MPI_Graph_get(c, nodes, MOST, in, out);
    CHECK(memcmp(in, index_, sizeof(int) * (size_t)nodes) == 0);
    CHECK(memcmp(out, edges, sizeof(int) * (size_t)count) == 0);
    CHECK(in[nodes] == 0x55555555 && out[count] == 0x55555555);
    for (int r = 0; r < nodes; r++) {
        int first = r ? index_[r - 1] : 0, of = -1;
        MPI_Graph_neighbors_count(c, r, &of);
        CHECK_EQ(of, index_[r] - first);
        memset(out, 0x55, sizeof out);
        MPI_Graph_neighbors(c, r, of, out);
        CHECK(memcmp(out, edges + first, sizeof(int) * (size_t)of) == 0);
        CHECK_EQ(out[of], 0x55555555);
    }
}

/* Along every edge goes a message. */
static void use_edges(MPI_Comm c)
{
    MPI_Request q[2 * MOST];
    int rank, n = 0, got[MOST], want = 0, sum = 0, arrive = 0, first;
    MPI_Comm_rank(c, &rank);
    first = rank ? index_[rank - 1] : 0;
    for (int r = 0; r < nodes; r++)
        for (int e = r ? index_[r - 1] : 0; e < index_[r]; e++)
            if (edges[e] == rank) {
                want += r;
                MPI_Irecv(&got[arrive++], 1, MPI_INT, r, 3, c, &q[n++]);
            }
    for (int e = first; e < index_[rank]; e++)
        MPI_Isend(&rank, 1, MPI_INT, edges[e], 3, c, &q[n++]);
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < arrive; i++)
        sum += got[i];
    CHECK_EQ(sum, want);
}

static void graph(int n, int stride, int reorder)
{
    MPI_Comm c = MPI_COMM_SELF, copy;
    int member, members = -1, rank, mine = -7, all[64], seen = 0;
    draw(n, stride);
    MPI_Graph_create(MPI_COMM_WORLD, n, index_, edges, reorder, &c);
    member = c != MPI_COMM_NULL;
    MPI_Allreduce(&member, &members, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(members, n);
    if (!reorder)
        CHECK_EQ(member, check_rank < n);
    if (member) {
        MPI_Comm_rank(c, &rank);
        if (!reorder)
            CHECK_EQ(rank, check_rank);
        check_graph(c);
        use_edges(c);
        MPI_Comm_dup(c, &copy);
        MPI_Comm_free(&c);
        check_graph(copy);
        use_edges(copy);
        MPI_Comm_free(&copy);
    }
    MPI_Graph_map(MPI_COMM_WORLD, n, index_, edges, &mine);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_ranks; r++)
        if (all[r] != MPI_UNDEFINED) {
            CHECK(all[r] >= 0 && all[r] < n);
            seen |= 1 << all[r];
        }
    CHECK_EQ(seen, (1 << n) - 1);
}

static void mistakes(void)
{
    int falling[2] = {1, 0}, one[2] = {1, 1}, wild[2] = {check_ranks, 0}, below[2] = {-1, 0}, zero[2] = {0, 0}, out[64];
    int full[64], to[64];
    MPI_Comm w, c = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_WORLD, &w);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    for (int r = 0; r < 64; r++)
        full[r] = r + 1, to[r] = 0;
    CHECK_CLASS(MPI_Graph_create(w, check_ranks + 1, full, to, 0, &c), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_create(w, -1, full, to, 0, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(w, 1, one, wild, 0, &c), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_create(w, 1, one, below, 0, &c), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_create(w, 1, below, zero, 0, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(w, 1, NULL, zero, 0, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(w, 1, one, NULL, 0, &c), MPI_ERR_ARG);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_Graph_create(w, 2, falling, zero, 0, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_map(w, 1, one, wild, out), MPI_ERR_RANK);
    CHECK(c == MPI_COMM_SELF);
    CHECK_CLASS(MPI_Graphdims_get(w, out, out + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_get(w, 64, 64, out, to), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_neighbors_count(w, 0, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_neighbors(w, 0, 1, out), MPI_ERR_TOPOLOGY);
    MPI_Graph_create(w, check_ranks, full, to, 0, &c);
    CHECK_CLASS(MPI_Cartdim_get(c, out), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_get(c, check_ranks - 1, check_ranks, out, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_get(c, check_ranks, check_ranks - 1, out, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_neighbors(c, 0, 0, out), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_neighbors_count(c, check_ranks, out), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_neighbors(c, -1, 1, out), MPI_ERR_RANK);
    MPI_Comm_free(&c), MPI_Comm_free(&w);
}

int main(int argc, char **argv)
{
    MPI_Comm c = MPI_COMM_SELF;
    start(&argc, &argv, "topo_graph");
    for (int n = 1; n <= check_ranks; n++)
        for (int stride = 1; stride <= 2; stride++)
            graph(n, stride, (n + stride) % 2);
    MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &c); /* the empty graph is nobody's */
    CHECK(c == MPI_COMM_NULL);
    mistakes();
    return finish();
}
