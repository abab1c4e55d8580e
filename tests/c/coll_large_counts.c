// covers: MPI_Bcast_c MPI_Gather_c MPI_Gatherv_c MPI_Scatter_c MPI_Scatterv_c MPI_Allgather_c MPI_Allgatherv_c MPI_Alltoall_c MPI_Alltoallv_c MPI_Alltoallw_c MPI_Reduce_c MPI_Allreduce_c MPI_Reduce_scatter_c MPI_Reduce_scatter_block_c MPI_Scan_c MPI_Exscan_c MPI_Reduce_local_c
/*
 * Collectives with MPI_Count, MPI 5.0 section 6: each against values that follow from ranks and places, with counts that
 * differ between the ranks where they may, in and out of place; and one count that no int could carry.
 */
#include "check.h"

enum { N = 5 };
static int all;

/* Element i of what rank r contributes. */
static int value(int r, int i)
{
    return 1000 * r + i;
}

static int sum(int i)
{
    return 1000 * (all * (all - 1) / 2) + all * i;
}

static void bcast(int n)
{
    int *a = check_alloc((size_t)n * sizeof *a);
    for (int root = 0; root < all; root++) {
        for (int i = 0; i < n; i++)
            a[i] = check_rank == root ? value(root, i) : -1;
        MPI_Bcast_c(a, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            if (a[i] != value(root, i)) {
                check_fail(__FILE__, __LINE__, "from root %d: element %d is %d", root, i, a[i]);
                break;
            }
    }
    free(a);
}

/* Rank r has r + 1 elements, which lie `gap` apart and in reverse order at the root. */
static void to_and_from_root(void)
{
    int mine = check_rank + 1, total = all * (all + 3), root = all - 1;
    int *a = check_alloc((size_t)total * sizeof *a), *one = check_alloc((size_t)(all + N) * sizeof *one);
    MPI_Count *counts = check_alloc((size_t)all * sizeof *counts);
    MPI_Aint *places = check_alloc((size_t)all * sizeof *places);
    for (int r = 0; r < all; r++)
        counts[r] = r + 1, places[r] = (all - 1 - r) * (all + 2);
    for (int i = 0; i < total; i++)
        a[i] = -1;
    for (int i = 0; i < mine; i++)
        one[i] = value(check_rank, i);
    MPI_Gatherv_c(one, mine, MPI_INT, a, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < all && check_rank == root; r++)
        for (int i = 0; i < all + 2; i++)
            CHECK_EQ(a[places[r] + i], i <= r ? value(r, i) : -1);
    for (int i = 0; i < mine; i++)
        one[i] = -1;
    MPI_Scatterv_c(a, counts, places, MPI_INT, one, mine, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < mine; i++)
        CHECK_EQ(one[i], value(check_rank, i));
    int *block = check_alloc((size_t)(all * N) * sizeof *block), out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = value(check_rank, i), in[i] = -1;
    MPI_Gather_c(out, N, MPI_INT, block, N, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < all * N && check_rank == 0; i++)
        CHECK_EQ(block[i], value(i / N, i % N));
    MPI_Scatter_c(block, N, MPI_INT, in, N, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], value(check_rank, i));
    free(a), free(one), free(counts), free(places), free(block);
}

static void gathers_for_all(void)
{
    int total = all * (all + 1) / 2, *a = check_alloc((size_t)(all * N + total) * sizeof *a), out[N];
    MPI_Count *counts = check_alloc((size_t)all * sizeof *counts);
    MPI_Aint *places = check_alloc((size_t)all * sizeof *places);
    for (int i = 0; i < N; i++)
        out[i] = value(check_rank, i);
    MPI_Allgather_c(out, N, MPI_INT, a, N, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < all * N; i++)
        CHECK_EQ(a[i], value(i / N, i % N));
    for (int r = 0; r < all; r++)
        counts[r] = r + 1, places[r] = r * (r + 1) / 2;
    for (int i = 0; i <= check_rank; i++)
        a[places[check_rank] + i] = value(check_rank, i);
    MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < all; r++)
        for (int i = 0; i <= r; i++)
            CHECK_EQ(a[places[r] + i], value(r, i));
    free(a), free(counts), free(places);
}

/* From rank r to rank s: r + s + 1 elements that name both. */
static void each_to_each(void)
{
    int most = 2 * all, *out = check_alloc((size_t)(all * most) * sizeof *out), *in = check_alloc((size_t)(all * most) * sizeof *in);
    MPI_Count *counts = check_alloc((size_t)all * sizeof *counts);
    MPI_Aint *places = check_alloc((size_t)all * sizeof *places), *bytes = check_alloc((size_t)all * sizeof *bytes);
    MPI_Datatype *types = check_alloc((size_t)all * sizeof *types);
    for (int s = 0; s < all; s++) {
        counts[s] = check_rank + s + 1, places[s] = s * most, bytes[s] = 4 * places[s], types[s] = MPI_INT;
        for (int i = 0; i < most; i++)
            out[s * most + i] = 10000 * check_rank + 100 * s + i;
    }
    for (int how = 0; how < 3; how++) {
        for (int i = 0; i < all * most; i++)
            in[i] = -1;
        if (how == 0)
            MPI_Alltoall_c(out, most, MPI_INT, in, most, MPI_INT, MPI_COMM_WORLD);
        else if (how == 1)
            MPI_Alltoallv_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Alltoallw_c(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD);
        for (int r = 0; r < all; r++)
            for (int i = 0; i < most; i++)
                CHECK_EQ(in[r * most + i], how == 0 || i < counts[r] ? 10000 * r + 100 * check_rank + i : -1);
    }
    free(out), free(in), free(counts), free(places), free(bytes), free(types);
}

static void reductions(void)
{
    int n = all * N, *out = check_alloc((size_t)n * sizeof *out), *in = check_alloc((size_t)n * sizeof *in), at = 0;
    MPI_Count *counts = check_alloc((size_t)all * sizeof *counts);
    for (int i = 0; i < n; i++)
        out[i] = value(check_rank, i), in[i] = -1;
    MPI_Reduce_c(out, in, n, MPI_INT, MPI_SUM, all - 1, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], check_rank == all - 1 ? sum(i) : -1);
    MPI_Allreduce_c(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], sum(i));
    memcpy(in, out, (size_t)n * sizeof *in);
    MPI_Allreduce_c(MPI_IN_PLACE, in, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], value(all - 1, i));
    MPI_Reduce_scatter_block_c(out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], sum(N * check_rank + i));
    for (int r = 0; r < all; r++)
        counts[r] = r % 3; /* some get nothing */
    for (int r = 0; r < check_rank; r++)
        at += r % 3;
    in[check_rank % 3] = -1;
    MPI_Reduce_scatter_c(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < check_rank % 3; i++)
        CHECK_EQ(in[i], sum(at + i));
    CHECK_EQ(in[check_rank % 3], -1);
    MPI_Scan_c(out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], 1000 * (check_rank * (check_rank + 1) / 2) + (check_rank + 1) * i);
    in[0] = -1;
    MPI_Exscan_c(out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N && check_rank > 0; i++)
        CHECK_EQ(in[i], 1000 * (check_rank * (check_rank - 1) / 2) + check_rank * i);
    for (int i = 0; i < N; i++)
        in[i] = i;
    MPI_Reduce_local_c(out, in, N, MPI_INT, MPI_SUM);
    for (int i = 0; i < N; i++)
        CHECK_EQ(in[i], value(check_rank, i) + i);
    free(out), free(in), free(counts);
}

/* More than 2^32 elements without a byte, and a negative count, which an int would have turned into another one. */
static void wide(void)
{
    const MPI_Count many = ((MPI_Count)1 << 32) + 3;
    MPI_Datatype nothing;
    int x = 7;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    CHECK_EQ(MPI_Bcast_c(&x, many, nothing, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(x, 7);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bcast_c(&x, -many, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_large_counts");
    all = check_ranks;
    bcast(N);
    bcast(40000);
    to_and_from_root();
    gathers_for_all();
    each_to_each();
    reductions();
    wide();
    return finish();
}
