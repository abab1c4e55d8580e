/*
 * A profiler that knows nothing but the standard: it takes the names MPI_X, does its own work around PMPI_X (MPI 5.0 section
 * 15.2), and asks the tool interface MPI_T (section 15.3) what the library counts. MPI_Finalize prints, for all ranks together,
 * calls, bytes and seconds of each function, and every counter, sum and time that some rank has counted.
 *
 *     mpicc -shared -fPIC profile.c -o libprofile.so
 *     mpirun -n 4 -x LD_PRELOAD=$PWD/libprofile.so ./program
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum function { SEND, RECV, ISEND, IRECV, WAIT, WAITALL, SENDRECV, BARRIER, BCAST, ALLREDUCE, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"MPI_Send",    "MPI_Recv",     "MPI_Isend",   "MPI_Irecv", "MPI_Wait",
                                             "MPI_Waitall", "MPI_Sendrecv", "MPI_Barrier", "MPI_Bcast", "MPI_Allreduce"};

static struct {
    double calls, bytes, seconds;
} seen[FUNCTIONS];

static double bytes_of(MPI_Count count, MPI_Datatype datatype)
{
    int size = 0;
    PMPI_Type_size(datatype, &size);
    return (double)count * size;
}

/* Calls PMPI_X, counts the call, and returns what it returned. */
#define COUNTED(function, amount, call)                                                                                   \
    do {                                                                                                                  \
        double since = PMPI_Wtime();                                                                                      \
        int code = (call);                                                                                                \
        seen[function].seconds += PMPI_Wtime() - since;                                                                   \
        seen[function].bytes += (amount);                                                                                 \
        seen[function].calls++;                                                                                           \
        return code;                                                                                                      \
    } while (0)

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    COUNTED(SEND, bytes_of(count, datatype), PMPI_Send(buf, count, datatype, dest, tag, comm));
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    COUNTED(RECV, 0, PMPI_Recv(buf, count, datatype, source, tag, comm, status));
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    COUNTED(ISEND, bytes_of(count, datatype), PMPI_Isend(buf, count, datatype, dest, tag, comm, request));
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    COUNTED(IRECV, 0, PMPI_Irecv(buf, count, datatype, source, tag, comm, request));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    COUNTED(WAIT, 0, PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    COUNTED(WAITALL, 0, PMPI_Waitall(count, array_of_requests, array_of_statuses));
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    COUNTED(SENDRECV, bytes_of(sendcount, sendtype),
            PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                          status));
}

int MPI_Barrier(MPI_Comm comm)
{
    COUNTED(BARRIER, 0, PMPI_Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    COUNTED(BCAST, bytes_of(count, datatype), PMPI_Bcast(buffer, count, datatype, root, comm));
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    COUNTED(ALLREDUCE, bytes_of(count, datatype), PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

/* ---- What the library counts: performance variables that are bound to no object and have one number ---- */

enum { VARIABLES = 256 };

static struct {
    MPI_T_pvar_handle handle;
    MPI_Datatype datatype;
    char name[128];
} variables[VARIABLES];
static int number_of;
static MPI_T_pvar_session session;

static void listen_to_all(void)
{
    int provided, all = 0, count;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) || MPI_T_pvar_session_create(&session) ||
        MPI_T_pvar_get_num(&all))
        return;
    for (int index = 0; index < all && number_of < VARIABLES; index++) {
        int length = sizeof variables[0].name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_T_enum words;
        if (MPI_T_pvar_get_info(index, variables[number_of].name, &length, &verbosity, &class,
                                &variables[number_of].datatype, &words, NULL, NULL, &bind, &readonly, &continuous, &atomic))
            continue;
        int sums_up = class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE || class == MPI_T_PVAR_CLASS_TIMER;
        int known = variables[number_of].datatype == MPI_DOUBLE || variables[number_of].datatype == MPI_UNSIGNED_LONG_LONG;
        if (!sums_up || !known || bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_pvar_handle_alloc(session, index, NULL, &variables[number_of].handle, &count))
            continue;
        number_of += count == 1;
    }
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
}

static double now(int variable)
{
    union {
        double seconds;
        unsigned long long number;
    } value = {0};
    if (MPI_T_pvar_read(session, variables[variable].handle, &value))
        return 0;
    return variables[variable].datatype == MPI_DOUBLE ? value.seconds : (double)value.number;
}

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    listen_to_all();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    listen_to_all();
    return code;
}

int MPI_Finalize(void)
{
    double counted[VARIABLES] = {0}, sum[VARIABLES] = {0}, functions[3 * FUNCTIONS] = {0};
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int variable = 0; variable < number_of; variable++)
        counted[variable] = now(variable);
    PMPI_Reduce(seen, functions, 3 * FUNCTIONS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(counted, sum, number_of, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%-32s %12s %16s %12s\n", "profile of all ranks", "calls", "bytes", "seconds");
        for (int at = 0; at < FUNCTIONS; at++)
            if (functions[3 * at] > 0)
                printf("%-32s %12.0f %16.0f %12.6f\n", names[at], functions[3 * at], functions[3 * at + 1],
                       functions[3 * at + 2]);
        for (int variable = 0; variable < number_of; variable++)
            if (sum[variable] > 0)
                printf("%-32s %*g\n", variables[variable].name,
                       variables[variable].datatype == MPI_DOUBLE ? 42 : 12, sum[variable]);
        fflush(stdout);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return PMPI_Finalize();
}
