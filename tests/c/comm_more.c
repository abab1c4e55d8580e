// covers: MPI_Comm_create MPI_Comm_split_type MPI_Comm_test_inter MPI_Comm_remote_size MPI_Comm_remote_group MPI_Comm_free
/*
 * Communicators for parts of the processes, MPI 5.0 section 7.4.2, and what an intracommunicator says when it is asked
 * about a remote group.
 */
#include "check.h"

static int sum_over(MPI_Comm c)
{
    int sum = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c);
    return sum;
}

/* Only the members get a communicator; the order is the group's. */
static void create(void)
{
    MPI_Group world, evens, back;
    MPI_Comm c = MPI_COMM_SELF;
    int range[1][3] = {{(check_ranks - 1) / 2 * 2, 0, -2}}, n = (check_ranks + 1) / 2, rank = -1, size = -1, result = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &evens);
    MPI_Comm_create(MPI_COMM_WORLD, evens, &c);
    if (check_rank % 2) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        CHECK_EQ(size, n);
        CHECK_EQ(rank, n - 1 - check_rank / 2);
        CHECK_EQ(sum_over(c), n * (n - 1));
        MPI_Comm_group(c, &back);
        MPI_Group_compare(back, evens, &result);
        CHECK_EQ(result, MPI_IDENT);
        MPI_Group_free(&back);
        MPI_Comm_free(&c);
        CHECK(c == MPI_COMM_NULL);
    }
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&evens), MPI_Group_free(&world);
}

/* Processes that share memory: here all of them, unless the ranks run on several machines. */
static void split_type(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    int rank = -1, size = -1, total = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -check_rank, MPI_INFO_NULL, &c);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    CHECK(size >= 1 && size <= check_ranks);
    if (size == check_ranks)
        CHECK_EQ(rank, check_ranks - 1 - check_rank); /* ordered by key */
    int leads = rank == 0, leaders = 0;
    MPI_Allreduce(&leads, &leaders, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(leaders >= 1);
    leads = leads ? size : 0;
    MPI_Allreduce(&leads, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(total, check_ranks); /* the parts are a partition */
    MPI_Comm_free(&c);
    MPI_Comm_split_type(MPI_COMM_WORLD, check_rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, MPI_INFO_NULL, &c);
    CHECK((c == MPI_COMM_NULL) == (check_rank == 0));
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
}

static void no_remote_group(void)
{
    int flag = -1, size = -1;
    MPI_Group g = MPI_GROUP_NULL;
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK_EQ(flag, 0);
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &size), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &g), MPI_ERR_COMM);
    CHECK(size == -1 && g == MPI_GROUP_NULL);
}

static void not_freed(void)
{
    MPI_Comm c = MPI_COMM_WORLD, stale;
    CHECK_CLASS(MPI_Comm_free(&c), MPI_ERR_COMM);
    CHECK(c == MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    stale = c;
    MPI_Comm_free(&c);
    CHECK_CLASS(MPI_Comm_free(&stale), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(stale), MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_more");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    create();
    split_type();
    no_remote_group();
    not_freed();
    return finish();
}
