// covers: MPI_Comm_disconnect
// ranks: 1 2 3 4 5
/*
 * MPI_Comm_disconnect (MPI 5.0 section 11.10.4): the handle ends as by MPI_Comm_free, but what is under way on the
 * communicator ends first, for communicators of one group and of two.
 */
#include "check.h"

enum { LONG = 300000 };
static int deleted;

static int count_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* Everything that is begun before is complete after: nothing but a look at it is needed. */
static void pending(MPI_Comm comm, int peers, int self)
{
    static double out[LONG], in[8][LONG];
    MPI_Request sends[8], receives[8], barrier;
    int all, key, sum;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL);
    MPI_Comm_set_attr(comm, key, out);
    for (int i = 0; i < LONG; i++)
        out[i] = check_rank + i;
    for (int p = 0; p < peers; p++) {
        memset(in[p], 0, sizeof in[p]);
        MPI_Irecv(in[p], LONG, MPI_DOUBLE, p, 3, comm, &receives[p]);
    }
    for (int p = 0; p < peers; p++)
        MPI_Isend(out, p % 2 == 0 ? LONG : 1, MPI_DOUBLE, p, 3, comm, &sends[p]);
    MPI_Ibarrier(comm, &barrier);
    deleted = 0;
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    CHECK_EQ(deleted, 1);
    MPI_Comm_free_keyval(&key);
    for (int p = 0; p < peers; p++) {
        int flag = 0;
        MPI_Request_get_status(receives[p], &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
        CHECK(self % 2 != 0 || in[p][LONG - 1] == in[p][0] + LONG - 1);
    }
    MPI_Request_get_status(barrier, &all, MPI_STATUS_IGNORE);
    CHECK(all);
    MPI_Waitall(peers, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(peers, sends, MPI_STATUSES_IGNORE);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    /* The library is as before. */
    MPI_Allreduce(&self, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* It is collective: nobody is through before the last one has come. */
static void together(void)
{
    MPI_Comm comm;
    double came, left, last, first;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == check_ranks - 1)
        for (came = MPI_Wtime(); MPI_Wtime() < came + 0.05;)
            ;
    came = MPI_Wtime();
    MPI_Comm_disconnect(&comm);
    left = MPI_Wtime();
    MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    CHECK(first >= last);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, half;
    int size, rank, code, class;
    start(&argc, &argv, "comm_disconnect");
    for (int times = 0; times < 3; times++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pending(comm, check_ranks, check_rank);
    }
    together();
    if (check_ranks > 1) {
        int upper = check_rank >= check_ranks / 2;
        MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : check_ranks / 2, 9, &comm);
        MPI_Comm_remote_size(comm, &size);
        MPI_Comm_rank(comm, &rank);
        pending(comm, size, rank);
        MPI_Comm_disconnect(&half);
        CHECK(half == MPI_COMM_NULL);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    comm = MPI_COMM_WORLD;
    code = MPI_Comm_disconnect(&comm);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_COMM);
    comm = MPI_COMM_NULL;
    code = MPI_Comm_disconnect(&comm);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_COMM);
    MPI_Finalize();
    return verdict();
}
