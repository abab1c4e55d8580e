// covers: MPI_Intercomm_create MPI_Intercomm_merge MPI_Comm_test_inter MPI_Comm_remote_size MPI_Comm_remote_group MPI_Comm_dup MPI_Comm_split MPI_Comm_create MPI_Comm_compare MPI_Comm_idup
// ranks: 1 2 3 4 8
/*
 * Intercommunicators, MPI 5.0 section 7.6: two groups, and ranks that name processes of the other one. With one process
 * there are no two groups; then what must be refused is.
 */
#include "check.h"

static MPI_Comm half, inter; /* this process's half of the world, and both halves joined */
static int upper, half_rank, half_size, other_size;

static void make(void)
{
    int low = (check_ranks + 1) / 2; /* the lower half is the larger one */
    upper = check_rank >= low;
    half_size = upper ? check_ranks - low : low;
    other_size = check_ranks - half_size;
    MPI_Comm_split(MPI_COMM_WORLD, upper, upper ? -check_rank : check_rank, &half); /* the upper half backwards */
    MPI_Comm_rank(half, &half_rank);
    /* Leaders: the last of the lower half, the first of the upper one. Only they know a communicator to each other. */
    MPI_Comm peer = (upper ? half_rank == 0 : half_rank == half_size - 1) ? MPI_COMM_WORLD : MPI_COMM_NULL;
    CHECK_EQ(MPI_Intercomm_create(half, upper ? 0 : half_size - 1, peer, upper ? low - 1 : check_ranks - 1, 77, &inter), MPI_SUCCESS);
}

/* World rank of a rank of a half. */
static int world_of(int of_upper, int rank)
{
    return of_upper ? check_ranks - 1 - rank : rank;
}

static void shape(MPI_Comm c)
{
    int flag = -1, rank = -1, size = -1, remote = -1, result = -1;
    MPI_Group there, world;
    MPI_Comm_test_inter(c, &flag);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Comm_remote_size(c, &remote);
    CHECK_EQ(flag, 1);
    CHECK_EQ(rank, half_rank);
    CHECK_EQ(size, half_size);
    CHECK_EQ(remote, other_size);
    MPI_Comm_remote_group(c, &there);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < other_size; r++) {
        int in_world = -1;
        MPI_Group_translate_ranks(there, 1, &r, world, &in_world);
        CHECK_EQ(in_world, world_of(!upper, r));
    }
    MPI_Group_rank(there, &rank);
    CHECK_EQ(rank, MPI_UNDEFINED);
    MPI_Group_free(&there), MPI_Group_free(&world);
    MPI_Comm_compare(c, c, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Comm_compare(c, inter, &result);
    CHECK_EQ(result, c == inter ? MPI_IDENT : MPI_CONGRUENT);
    MPI_Comm_compare(c, half, &result);
    CHECK_EQ(result, MPI_UNEQUAL);
}

/* Everybody sends to everybody of the other group: by rank, by wildcard, long and short, and the status names the rank in
 * the other group. */
static void messages(MPI_Comm c)
{
    enum { LONG = 200000 };
    char *out = check_alloc(LONG), *in = check_alloc(LONG);
    MPI_Request *q = check_alloc((size_t)(2 * other_size) * sizeof *q);
    MPI_Status s;
    int seen = 0;
    fill(out, LONG, world_of(upper, half_rank));
    for (int r = 0; r < other_size; r++) {
        MPI_Isend(out, 40, MPI_BYTE, r, 5, c, &q[2 * r]);
        MPI_Isend(out, LONG, MPI_BYTE, r, 6, c, &q[2 * r + 1]);
    }
    for (int r = 0; r < other_size; r++) {
        MPI_Recv(in, 40, MPI_BYTE, MPI_ANY_SOURCE, 5, c, &s);
        CHECK(s.MPI_SOURCE >= 0 && s.MPI_SOURCE < other_size);
        CHECK_BYTES(in, 40, world_of(!upper, s.MPI_SOURCE));
        seen |= 1 << s.MPI_SOURCE;
    }
    for (int r = 0; r < other_size; r++) {
        MPI_Recv(in, LONG, MPI_BYTE, r, MPI_ANY_TAG, c, &s);
        CHECK_STATUS(s, r, 6, LONG);
        CHECK_BYTES(in, LONG, world_of(!upper, r));
    }
    CHECK_EQ(seen, (1 << other_size) - 1);
    MPI_Waitall(2 * other_size, q, MPI_STATUSES_IGNORE);
    if (half_rank == 0) { /* the leaders of both */
        int a = 1000 + upper, b = -1;
        MPI_Message m;
        MPI_Sendrecv(&a, 1, MPI_INT, 0, 9, &b, 1, MPI_INT, 0, 9, c, &s);
        CHECK_EQ(b, 1001 - upper);
        MPI_Isend(&a, 1, MPI_INT, 0, 3, c, q);
        MPI_Mprobe(MPI_ANY_SOURCE, 3, c, &m, &s);
        CHECK_EQ(s.MPI_SOURCE, 0);
        MPI_Mrecv(&b, 1, MPI_INT, &m, &s);
        MPI_Wait(q, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Send(&a, 1, MPI_INT, other_size, 1, c), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Recv(&a, 1, MPI_INT, other_size, 1, c, &s), MPI_ERR_RANK);
        CHECK_EQ(MPI_Send(&a, 1, MPI_INT, MPI_PROC_NULL, 1, c), MPI_SUCCESS);
    }
    free(out), free(in), free(q);
}

/* Who says low comes first; if both say the same, either order is right, but it must be one. */
static void merge(void)
{
    MPI_Comm c;
    for (int way = 0; way < 3; way++) {
        int high = way == 0 ? upper : way == 1 ? !upper : 1, rank = -1, size = -1, sum = -1;
        CHECK_EQ(MPI_Intercomm_merge(inter, high, &c), MPI_SUCCESS);
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        CHECK_EQ(size, check_ranks);
        if (way < 2)
            CHECK_EQ(rank, high ? other_size + half_rank : half_rank);
        else
            CHECK(rank == half_rank || rank == other_size + half_rank);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(sum, check_ranks * (check_ranks - 1) / 2);
        MPI_Comm_free(&c);
    }
}

static void duplicates(void)
{
    MPI_Comm c[2];
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm_dup(inter, &c[0]);
    MPI_Comm_idup(c[0], &c[1], &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        shape(c[i]);
        messages(c[i]);
    }
    MPI_Comm_free(&c[0]);
    messages(c[1]);
    MPI_Comm_free(&c[1]);
}

/* Both sides of one color are joined; a color that only one side has gives nothing. */
static void splits(void)
{
    MPI_Comm c;
    int rank = -1, size = -1, remote = -1, evens = (half_size + 1) / 2, other_evens = (other_size + 1) / 2;
    MPI_Comm_split(inter, half_rank % 2 ? MPI_UNDEFINED : 3, -half_rank, &c);
    CHECK((c == MPI_COMM_NULL) == (half_rank % 2));
    if (c != MPI_COMM_NULL) {
        int a = world_of(upper, half_rank), b = -1;
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        MPI_Comm_remote_size(c, &remote);
        CHECK_EQ(size, evens);
        CHECK_EQ(remote, other_evens);
        CHECK_EQ(rank, evens - 1 - half_rank / 2);
        if (rank < remote) {
            MPI_Sendrecv(&a, 1, MPI_INT, rank, 1, &b, 1, MPI_INT, rank, 1, c, MPI_STATUS_IGNORE);
            CHECK_EQ(b, world_of(!upper, (other_evens - 1 - rank) * 2));
        }
        MPI_Comm_free(&c);
    }
    MPI_Comm_split(inter, upper, 0, &c);
    CHECK(c == MPI_COMM_NULL);
}

/* The last process of each side. */
static void creates(void)
{
    MPI_Comm c;
    MPI_Group mine, last;
    int which = half_size - 1, remote = -1, size = -1;
    MPI_Comm_group(inter, &mine);
    MPI_Group_incl(mine, 1, &which, &last);
    MPI_Comm_create(inter, last, &c);
    CHECK((c == MPI_COMM_NULL) == (half_rank != which));
    if (c != MPI_COMM_NULL) {
        int a = upper, b = -1;
        MPI_Comm_size(c, &size);
        MPI_Comm_remote_size(c, &remote);
        CHECK_EQ(size, 1);
        CHECK_EQ(remote, 1);
        MPI_Sendrecv(&a, 1, MPI_INT, 0, 1, &b, 1, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE);
        CHECK_EQ(b, !upper);
        MPI_Comm_free(&c);
    }
    /* One side names nobody: nobody gets a communicator. */
    MPI_Comm_create(inter, upper ? MPI_GROUP_EMPTY : last, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&mine), MPI_Group_free(&last);
}

/* An intercommunicator over another one: the leaders are remote to each other. */
static void over_another(void)
{
    MPI_Comm c, alone;
    MPI_Comm_dup(half, &alone);
    MPI_Intercomm_create(alone, 0, inter, 0, 5, &c);
    shape(c);
    messages(c);
    MPI_Comm_free(&c);
    MPI_Comm_free(&alone);
}

static void mistakes(void)
{
    MPI_Comm c = MPI_COMM_SELF;
    MPI_Group g;
    CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 1, &c), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, check_ranks, 1, &c), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, check_rank, 1, &c), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 1, &c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 0, -1, &c), MPI_ERR_TAG);
    CHECK(c == MPI_COMM_NULL);
    if (check_ranks > 1) {
        CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &c), MPI_ERR_COMM);
        MPI_Comm_group(MPI_COMM_SELF, &g);
        CHECK_CLASS(MPI_Comm_create_group(inter, g, 1, &c), MPI_ERR_COMM);
        MPI_Group_free(&g);
        /* A wrong argument of the leader comes to all of its group. */
        CHECK_CLASS(MPI_Intercomm_create(half, 0, half_rank == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL, 4711, 1, &c), MPI_ERR_RANK);
        CHECK_EQ(MPI_Barrier(inter), MPI_SUCCESS);
    }
}

/* Pending communication outlives the handle (section 7.4.3). */
static void freed_while_pending(void)
{
    MPI_Comm c;
    MPI_Request q[2];
    int a = check_rank, b = -1, with = half_rank;
    MPI_Comm_dup(inter, &c);
    if (with >= other_size) {
        MPI_Comm_free(&c);
        return;
    }
    MPI_Irecv(&b, 1, MPI_INT, with, 1, c, &q[0]);
    MPI_Issend(&a, 1, MPI_INT, with, 1, c, &q[1]);
    MPI_Comm_free(&c);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(b, world_of(!upper, with));
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_inter");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (check_ranks > 1) {
        make();
        shape(inter);
        messages(inter);
        merge();
        duplicates();
        splits();
        creates();
        over_another();
        freed_while_pending();
    }
    mistakes();
    if (check_ranks > 1) {
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    return finish();
}
