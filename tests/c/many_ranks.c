// ranks: 1 2 4 16 32
// covers: MPI_Sendrecv MPI_Barrier MPI_Alltoall MPI_Allreduce MPI_Isend MPI_Irecv MPI_Waitall MPI_Allgather
/*
 * Far more ranks than cores, MPI 5.0 sections 3.5 (progress) and 6.3. Every step waits for a rank that is not running: a
 * library that spins instead of giving its core away takes minutes here, one that forgets to wake a sleeper hangs.
 * Meant for 16 to 32 ranks on two cores; little data, many hand-overs.
 */
#include "check.h"

/* A token once around, each rank adding its own number: n hand-overs in strict sequence. */
static void ring(void)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    for (int round = 0; round < 3 && check_ranks > 1; round++) {
        long token = 1000 * round, want = token;
        if (check_rank == 0)
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int r = 1; r <= (check_rank == 0 ? check_ranks - 1 : check_rank - 1); r++)
            want += r;
        CHECK_EQ(token, want);
        token += check_rank;
        if (check_rank != 0)
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
    }
}

static void alltoall(int n)
{
    int *out = check_alloc((size_t)n * (size_t)check_ranks * sizeof(int)), *in = check_alloc((size_t)n * (size_t)check_ranks * sizeof(int));
    for (int r = 0; r < check_ranks; r++)
        for (int k = 0; k < n; k++)
            out[r * n + k] = check_rank * 100000 + r * 1000 + k, in[r * n + k] = -1;
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_ranks; r++)
        for (int k = 0; k < n; k++)
            CHECK_EQ(in[r * n + k], r * 100000 + check_rank * 1000 + k);
    free(out), free(in);
}

/* Everyone to everyone at once, by hand: as many connections and queues as there can be. */
static void everyone(void)
{
    size_t n = (size_t)check_ranks;
    MPI_Request *q = check_alloc(2 * n * sizeof *q);
    int *out = check_alloc(n * sizeof(int)), *in = check_alloc(n * sizeof(int));
    for (int i = 0; i < check_ranks; i++) {
        int r = (check_rank + i) % check_ranks;
        out[r] = check_rank * 1000 + r, in[r] = -1;
        MPI_Irecv(&in[r], 1, MPI_INT, r, 7, MPI_COMM_WORLD, &q[i]);
        MPI_Isend(&out[r], 1, MPI_INT, r, 7, MPI_COMM_WORLD, &q[check_ranks + i]);
    }
    MPI_Waitall(2 * check_ranks, q, MPI_STATUSES_IGNORE);
    for (int r = 0; r < check_ranks; r++)
        CHECK_EQ(in[r], r * 1000 + check_rank);
    free(q), free(out), free(in);
}

static void barriers(void)
{
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void agree(void)
{
    int *all = check_alloc((size_t)check_ranks * sizeof(int)), mine = check_rank * 3, most = -1;
    long sum = 0, one = check_rank;
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_ranks; r++)
        CHECK_EQ(all[r], 3 * r);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(sum, (long)check_ranks * (check_ranks - 1) / 2);
    CHECK_EQ(most, 3 * (check_ranks - 1));
    free(all);
}

/* Partners at every power of two, as the inside of a collective has them. */
static void hypercube(void)
{
    for (int distance = 1; distance < check_ranks; distance *= 2) {
        int to = (check_rank + distance) % check_ranks, from = (check_rank + check_ranks - distance) % check_ranks, got = -1;
        MPI_Sendrecv(&check_rank, 1, MPI_INT, to, distance, &got, 1, MPI_INT, from, distance, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, from);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "many_ranks");
    ring();
    alltoall(1);
    alltoall(100);
    everyone();
    barriers();
    agree();
    hypercube();
    return finish();
}
