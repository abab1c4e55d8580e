// covers: MPI_Barrier_init MPI_Bcast_init MPI_Allreduce_init MPI_Alltoall_init MPI_Gather_init MPI_Scan_init MPI_Start MPI_Startall MPI_Request_free MPI_Cancel
/*
 * Several persistent collectives of one communicator, MPI 5.0 section 6.13: made in one order, started in another that
 * differs from rank to rank, with new contents each time and with nonblocking and blocking ones between them; types,
 * operations, infos and communicators freed after the initialisation; and what is an error.
 */
#include "check.h"

enum { SETS = 6, ROUNDS = 9, N = 700, LONG = 30000 };

static int value(int from, int to, int round, int k)
{
    return from * 1009 + to * 40009 + round * 31 + k * 7;
}

/* Associative and not commutative: the first operand that is not 0 wins. */
static void first(void *a, void *b, int *n, MPI_Datatype *t)
{
    int *x = a, *y = b, size;
    MPI_Type_size(*t, &size);
    for (int i = 0; i < *n * size / (int)sizeof(int); i++)
        y[i] = x[i] != 0 ? x[i] : y[i];
}

struct set {
    int root, n;
    int *bcast, *out, *in, *gathered, *sum, *scan;
    MPI_Request q[SETS];
};

static void make(struct set *s, MPI_Comm c, int which)
{
    int ranks = check_ranks, n = s->n = which == 2 ? LONG : N, all = n * ranks;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Info info;
    s->root = which % ranks;
    s->bcast = check_alloc((size_t)n * sizeof(int)), s->out = check_alloc((size_t)all * sizeof(int));
    s->in = check_alloc((size_t)all * sizeof(int)), s->gathered = check_alloc((size_t)all * sizeof(int));
    s->sum = check_alloc((size_t)n * sizeof(int)), s->scan = check_alloc((size_t)n * sizeof(int));
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(first, 0, &op);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering", "false");
    MPI_Barrier_init(c, info, &s->q[0]);
    MPI_Bcast_init(s->bcast, n / 2, pair, s->root, c, info, &s->q[1]);
    MPI_Alltoall_init(s->out, n, MPI_INT, s->in, n / 2, pair, c, MPI_INFO_NULL, &s->q[2]);
    MPI_Gather_init(s->out, n, MPI_INT, s->gathered, n, MPI_INT, s->root, c, info, &s->q[3]);
    MPI_Allreduce_init(MPI_IN_PLACE, s->sum, n, MPI_INT, MPI_SUM, c, info, &s->q[4]);
    MPI_Scan_init(s->out, s->scan, n / 2, pair, op, c, info, &s->q[5]);
    MPI_Info_free(&info);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

static void before(struct set *s, int rank, int round)
{
    for (int k = 0; k < s->n; k++) {
        s->bcast[k] = rank == s->root ? value(s->root, 0, round, k) : -1;
        s->sum[k] = value(rank, 1, round, k);
        s->scan[k] = -1;
        for (int r = 0; r < check_ranks; r++) {
            s->out[r * s->n + k] = r == 0 && (k + round) % (rank + 2) == 0 ? 0 : value(rank, r, round, k);
            s->in[r * s->n + k] = s->gathered[r * s->n + k] = -1;
        }
    }
}

static int sent(int from, int to, int round, int k)
{
    return to == 0 && (k + round) % (from + 2) == 0 ? 0 : value(from, to, round, k);
}

static void after(const struct set *s, int rank, int round)
{
    for (int k = 0; k < s->n; k++) {
        int sum = 0, won = 0;
        for (int r = 0; r < check_ranks; r++)
            sum += value(r, 1, round, k);
        for (int r = 0; r <= rank && won == 0; r++)
            won = sent(r, 0, round, k);
        if (s->bcast[k] != value(s->root, 0, round, k) || s->sum[k] != sum || s->scan[k] != won) {
            check_fail(__FILE__, __LINE__, "round %d, root %d, element %d: bcast %d (%d), sum %d (%d), scan %d (%d)", round, s->root, k,
                       s->bcast[k], value(s->root, 0, round, k), s->sum[k], sum, s->scan[k], won);
            return;
        }
        for (int r = 0; r < check_ranks; r++) {
            CHECK_EQ(s->in[r * s->n + k], sent(r, rank, round, k));
            CHECK_EQ(s->gathered[r * s->n + k], rank == s->root ? sent(r, 0, round, k) : -1);
        }
    }
}

static void destroy(struct set *s)
{
    for (int i = 0; i < SETS; i++) {
        CHECK_CLASS(MPI_Request_free(&s->q[i]), MPI_SUCCESS);
        CHECK(s->q[i] == MPI_REQUEST_NULL);
    }
    free(s->bcast), free(s->out), free(s->in), free(s->gathered), free(s->sum), free(s->scan);
}

static void rounds(void)
{
    struct set sets[3];
    MPI_Comm c;
    int rank;
    unsigned mine = (unsigned)check_rank * 7919u + 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &c);
    MPI_Comm_rank(c, &rank);
    for (int i = 0; i < 3; i++)
        make(&sets[i], c, i);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request all[3 * SETS], extra;
        int order[3 * SETS], sum = -1, one = round;
        for (int i = 0; i < 3 * SETS; i++)
            order[i] = i;
        for (int i = 3 * SETS - 1; i > 0; i--) { /* an order of this rank's own */
            int k = (int)((mine = mine * 1664525u + 1013904223u) >> 12) % (i + 1), t = order[i];
            order[i] = order[k], order[k] = t;
        }
        for (int i = 0; i < 3; i++)
            before(&sets[i], rank, round);
        for (int i = 0; i < 3 * SETS; i++)
            all[i] = sets[order[i] / SETS].q[order[i] % SETS];
        if (round % 3 == 0)
            MPI_Startall(3 * SETS, all);
        else
            for (int i = 0; i < 3 * SETS; i++)
                MPI_Start(&all[i]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c, &extra);
        if (round % 2 == 0)
            MPI_Barrier(c);
        if (round == ROUNDS - 1)
            MPI_Comm_free(&c);
        MPI_Waitall(3 * SETS, all, MPI_STATUSES_IGNORE);
        MPI_Wait(&extra, MPI_STATUS_IGNORE);
        CHECK_EQ(sum, round * check_ranks);
        for (int i = 0; i < 3; i++)
            after(&sets[i], rank, round);
    }
    for (int i = 0; i < 3; i++)
        destroy(&sets[i]);
}

static void errors(void)
{
    int a[4] = {1, 2, 3, 4}, b[4] = {0}, flag = 0;
    MPI_Request q, kept;
    MPI_Status s;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bcast_init(a, 1, MPI_INT, check_ranks, MPI_COMM_WORLD, MPI_INFO_NULL, &q), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allreduce_init(a, b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_SELF, MPI_INFO_NULL, &q), MPI_ERR_OP);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    /* Inactive: complete, with the empty status, and still there. */
    MPI_Test(&q, &flag, &s);
    CHECK(flag && s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG && q != MPI_REQUEST_NULL);
    kept = q;
    MPI_Start(&q);
    if (!library_is("MPICH") && !library_is("Open MPI")) {
        CHECK_CLASS(MPI_Start(&q), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&q), MPI_ERR_REQUEST);
    }
    CHECK(q == kept);
    CHECK_CLASS(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(q == kept);
    MPI_Request_free(&q);
    CHECK_CLASS(MPI_Start(&kept), MPI_ERR_REQUEST);
    /* Alone: nothing to wait for, and the effect is there all the same. */
    MPI_Allreduce_init(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &q);
    for (int round = 0; round < 3; round++) {
        a[2] = round;
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(memcmp(a, b, sizeof a) == 0);
    }
    MPI_Request_free(&q);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_persistent_4");
    rounds();
    errors();
    return finish();
}
