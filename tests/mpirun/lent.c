/*
 * Rounds of partitioned communication (MPI 5.0 section 4.2) whose sender computes before each mark, so that the receiver copies their
 * pieces out of its memory. In the middle of one round the system forbids that: the receive fails with MPI_ERR_OTHER once all else is
 * there, the send does not, and later rounds are as before. What MPI_Parrived says is there is there at once.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARTITIONS = 8, BYTES = 64 << 10, ROUNDS = 6, BROKEN = 3 };

static int round_now = -1, copies, refused;

/* The library's call comes here: a program's own symbol goes before that of the C library. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                         unsigned long flags)
{
    if (here[0].iov_len == BYTES && copies++ > 0 && round_now == BROKEN) {
        refused++;
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

/* Far longer than what makes marks slow. */
static void compute(void)
{
    double end = MPI_Wtime() + 1e-3;
    while (MPI_Wtime() < end)
        ;
}

static void fail(const char *what, int number)
{
    fprintf(stderr, "round %d: %s (%d)\n", round_now, what, number);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int is_wrong(const unsigned char *data, int at)
{
    for (int i = 0; i < BYTES; i++)
        if (data[at * BYTES + i] != (unsigned char)(i * 7 + at + round_now))
            return 1;
    return 0;
}

/* The partitions that are not as their sender had them. */
static int wrong(const unsigned char *data)
{
    int count = 0;
    for (int at = 0; at < PARTITIONS; at++)
        count += is_wrong(data, at);
    return count;
}

/* Looks at each partition as soon as it is said to be there, until the round has ended. */
static void look(MPI_Request request, const unsigned char *data)
{
    int seen[PARTITIONS] = {0}, over = 0, flag;
    while (!over) {
        MPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
        for (int at = 0; at < PARTITIONS && !over; at++) {
            flag = 0;
            if (seen[at] || MPI_Parrived(request, at, &flag) != MPI_SUCCESS || !flag)
                continue;
            if (is_wrong(data, at))
                fail("MPI_Parrived told of a partition without its data", at);
            seen[at] = 1;
        }
    }
}

static void received(int error, const MPI_Status *status, const unsigned char *data)
{
    int class = 0;
    MPI_Error_class(error, &class);
    if (round_now != BROKEN) {
        if (error != MPI_SUCCESS || wrong(data))
            fail("it should be as it was sent", error ? class : wrong(data));
        return;
    }
    if (refused == 0)
        fail("no piece was copied out of the sender's memory", copies);
    if (class != MPI_ERR_OTHER)
        fail("MPI_ERR_OTHER is expected", class);
    if (wrong(data) != refused)
        fail("all but what was refused should be there; partitions that are not", wrong(data));
    if (status->MPI_SOURCE != 0 || status->MPI_TAG != 7)
        fail("its status should say whose round it is", status->MPI_SOURCE);
}

int main(int argc, char **argv)
{
    int rank;
    unsigned char *data = malloc(PARTITIONS * BYTES);
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Psend_init(data, PARTITIONS, BYTES, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, PARTITIONS, BYTES, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        round_now = round, copies = 0;
        MPI_Start(&request);
        for (int at = 0; at < PARTITIONS && rank == 0; at++) {
            compute();
            for (int i = 0; i < BYTES; i++)
                data[at * BYTES + i] = (unsigned char)(i * 7 + at + round);
            MPI_Pready(at, request);
        }
        if (rank == 1)
            look(request, data);
        int error = MPI_Wait(&request, &status);
        if (rank == 1)
            received(error, &status, data);
        else if (error != MPI_SUCCESS)
            fail("the send should be well", error);
    }
    if (rank == 1)
        fprintf(stderr, "%d copies were refused\n", refused);
    MPI_Request_free(&request);
    MPI_Finalize();
    free(data);
    return 0;
}
