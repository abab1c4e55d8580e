/*
 * What it takes to make objects and to free them again: what libraries do in each of their calls, and programs that wrap MPI.
 *
 *   mpirun -n 2 objects --dup | --errhandler | --keyval [-r samples] [-i iterations] [--json] [--pin]
 *
 * --dup: MPI_Comm_dup of MPI_COMM_WORLD and MPI_Comm_free, by all ranks. --errhandler: MPI_Comm_create_errhandler and
 * MPI_Errhandler_free. --keyval: MPI_Comm_create_keyval, an attribute set, asked for and deleted, MPI_Comm_free_keyval. The size means
 * nothing.
 */
#include "bench.h"

static int duplicate, errhandler, keyval;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void make(int *value)
{
    if (duplicate) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    } else if (errhandler) {
        MPI_Errhandler handler;
        MPI_Comm_create_errhandler(handle, &handler);
        MPI_Errhandler_free(&handler);
    } else {
        int key, found = 0;
        void *kept = NULL;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_WORLD, key, value);
        MPI_Comm_get_attr(MPI_COMM_WORLD, key, &kept, &found);
        *value += found && kept == value;
        MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
        MPI_Comm_free_keyval(&key);
    }
}

static void chunk(void *with, int iterations)
{
    for (int i = 0; i < iterations; i++)
        make(with);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "objects", .repetitions = 20, .chunk_us = 1000, .sizes = {8}, .size_count = 1}, .lone = 1};
    struct flag flags[] = {{"--dup", "MPI_Comm_dup and MPI_Comm_free", &duplicate},
                           {"--errhandler", "MPI_Comm_create_errhandler and MPI_Errhandler_free", &errhandler},
                           {"--keyval", "a keyval with an attribute", &keyval}};
    int before = 0, after;
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (duplicate + errhandler + keyval != 1)
        bench_die(&b, "say one of --dup, --errhandler, --keyval", duplicate + errhandler + keyval);
    after = before;
    make(&after);
    if (after != before + keyval)
        bench_die(&b, "an attribute that was set is not there", after);
    bench_measure(&b, chunk, &after, b.o.sizes[0], MICROSECONDS, 1, 0);
    bench_finish();
    return 0;
}
