// covers: MPI_Comm_idup MPI_Comm_idup_with_info MPI_Comm_dup_with_info MPI_Comm_set_info MPI_Comm_get_info MPI_Comm_create_group MPI_Comm_free
/*
 * Nonblocking duplication, communicators of groups alone, hints: MPI 5.0 sections 7.4.2 and 7.4.4.
 */
#include "check.h"

static int next, previous, copies, refuse;

static int copy_fn(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void ring(MPI_Comm c)
{
    int got = -1, sum = -1, rank = -1, size = -1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, c, MPI_STATUS_IGNORE);
    CHECK_EQ(got, (rank + size - 1) % size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size * (size - 1) / 2);
}

/* A call that returns before the others have come, and is moved on by whatever else this process does. */
static void truly_nonblocking(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Request q = MPI_REQUEST_NULL;
    int token = 0, result = -1;
    if (check_rank == check_ranks - 1 && check_ranks > 1)
        MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* only after rank 0's call returned */
    CHECK_EQ(MPI_Comm_idup(MPI_COMM_WORLD, &c, &q), MPI_SUCCESS);
    if (check_rank == 0 && check_ranks > 1)
        MPI_Send(&token, 1, MPI_INT, check_ranks - 1, 7, MPI_COMM_WORLD);
    /* Ranks other than 0 wait for a message from the one before, which waits for its duplicate first: everybody's part
     * must be done inside the receive. */
    if (check_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(q == MPI_REQUEST_NULL);
    if (check_rank + 1 < check_ranks)
        MPI_Send(&token, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
    MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    ring(c);
    MPI_Comm_free(&c);
}

/* Many under way, other collectives and constructors in between, waited for in another order. */
static void many(void)
{
    enum { N = 12 };
    MPI_Comm c[N], other;
    MPI_Request q[N];
    int x = check_rank, sum = -1, index = -1, left = N;
    for (int i = 0; i < N; i++) {
        MPI_Comm_idup(MPI_COMM_WORLD, &c[i], &q[i]);
        if (i == 4)
            MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (i == 7) {
            MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &other);
            ring(other);
            MPI_Comm_free(&other);
        }
    }
    CHECK_EQ(sum, check_ranks * (check_ranks - 1) / 2);
    MPI_Wait(&q[N - 1], MPI_STATUS_IGNORE);
    ring(c[N - 1]);
    while (--left > 0)
        MPI_Waitany(N, q, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < N - 1; i++)
        ring(c[i]);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++)
            CHECK(c[i] != c[j]);
    }
    for (int i = 0; i < N; i++)
        MPI_Comm_free(&c[i]);
}

/* A duplicate of a communicator that is freed before it is there. */
static void parent_goes_first(void)
{
    MPI_Comm parent, c;
    MPI_Request q;
    for (int i = 0; i < 20; i++) { /* what others say about the parent comes before, between and after */
        MPI_Comm_dup(MPI_COMM_WORLD, &parent);
        MPI_Comm_idup(parent, &c, &q);
        MPI_Comm_free(&parent);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        ring(c);
        MPI_Comm_free(&c);
    }
}

static void attributes(void)
{
    MPI_Comm parent, c = MPI_COMM_SELF;
    MPI_Request q;
    int key, flag = 0;
    static char place[8];
    void *value = NULL;
    MPI_Comm_create_keyval(copy_fn, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_attr(parent, key, place);
    copies = 0;
    MPI_Comm_idup(parent, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(copies, 1);
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(flag && value == place + 1);
    MPI_Comm_free(&c);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    refuse = 1; /* on all ranks: nobody gets one, and nobody hangs */
    CHECK_CLASS(MPI_Comm_idup(parent, &c, &q), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Comm_dup(parent, &c), MPI_ERR_OTHER);
    refuse = 0;
    ring(parent);
    MPI_Comm_free(&parent);
    MPI_Comm_free_keyval(&key);
}

static void hint(MPI_Comm c, const char *key, const char *want)
{
    char text[64] = "not there";
    int room = sizeof text, flag = 0;
    MPI_Info info;
    MPI_Comm_get_info(c, &info);
    MPI_Info_get_string(info, key, &room, text, &flag);
    if (!flag)
        strcpy(text, "not there");
    CHECK_MSG(strcmp(text, want) == 0, "%s: expected %s, got %s", key, want, text);
    MPI_Info_free(&info);
}

static void hints(void)
{
    MPI_Comm c, d;
    MPI_Info info;
    MPI_Request q;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "nobody_knows_this", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &c);
    hint(c, "mpi_assert_no_any_tag", "true");
    hint(c, "mpi_assert_no_any_source", "false");
    hint(c, "nobody_knows_this", "not there");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    hint(c, "mpi_assert_exact_length", "false"); /* a copy was taken */
    MPI_Comm_set_info(c, info);
    hint(c, "mpi_assert_exact_length", "true");
    hint(c, "mpi_assert_no_any_tag", "false");
    MPI_Comm_dup(c, &d); /* does not inherit (MPI 4.0 changed that) */
    hint(d, "mpi_assert_exact_length", "false");
    MPI_Comm_free(&d);
    MPI_Comm_idup_with_info(c, info, &d, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    hint(d, "mpi_assert_exact_length", "true");
    ring(d);
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
    MPI_Info_free(&info);
}

/* Called by the members only; the others are somewhere else meanwhile. */
static void groups(void)
{
    MPI_Group world, part, one;
    MPI_Comm c = MPI_COMM_SELF, d;
    int range[1][3] = {{check_ranks - 1, (check_ranks - 1) % 2, -2}}, rank = -1, size = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &part);
    if (check_rank % 2 == (check_ranks - 1) % 2) {
        for (int i = 0; i < 3; i++) { /* the same tag again and again */
            CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, part, 42, &c), MPI_SUCCESS);
            MPI_Comm_rank(c, &rank);
            MPI_Comm_size(c, &size);
            CHECK_EQ(size, (check_ranks + 1) / 2);
            CHECK_EQ(rank, (check_ranks - 1 - check_rank) / 2);
            ring(c);
            if (i < 2)
                MPI_Comm_free(&c);
        }
        MPI_Comm_create_group(c, part, 1, &d); /* from one that is not the world */
        ring(d);
        MPI_Comm_free(&d);
        MPI_Comm_free(&c);
    } else {
        c = MPI_COMM_WORLD; /* it is no member: nothing is made, as in other libraries */
        CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, part, 42, &c), MPI_SUCCESS);
        CHECK(c == MPI_COMM_NULL);
    }
    MPI_Group_incl(world, 1, &check_rank, &one);
    CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, one, 0, &c), MPI_SUCCESS);
    ring(c);
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 0, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, one, -1, &c), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 1, &c), MPI_ERR_GROUP);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_SELF, world, 1, &c), MPI_ERR_GROUP);
    MPI_Group_free(&world), MPI_Group_free(&part), MPI_Group_free(&one);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_idup");
    next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    truly_nonblocking();
    many();
    parent_goes_first();
    attributes();
    hints();
    groups();
    return finish();
}
