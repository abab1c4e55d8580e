/* Handles of the program's own for a debugger to show, of each kind; those that were freed, and those that never were any. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void look_here(void)
{
    puts("here");
}

static void adds(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void hears(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

int main(int argc, char **argv)
{
    static char large[1 << 20];
    int word = 7, into[4], here = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm ring, plain, freed, rubbish = (MPI_Comm)(intptr_t)0x12345678;
    MPI_Comm_dup(MPI_COMM_SELF, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Comm_dup(ring, &plain);
    MPI_Comm_dup(ring, &freed);
    MPI_Comm kept = freed;
    MPI_Comm_free(&freed);
    freed = kept;
    MPI_Group group;
    MPI_Comm_group(ring, &group);
    MPI_Datatype pair, named;
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair);
    MPI_Type_dup(pair, &named);
    MPI_Type_set_name(named, "pair");
    MPI_Type_commit(&named);
    MPI_Op op;
    MPI_Op_create(adds, 1, &op);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(hears, &handler);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "red");
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Win win;
    int *memory;
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, ring, &memory, &win);
    MPI_Win_set_name(win, "window");
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Request receives, any, sends, complete, persistent, taken;
    MPI_Irecv(&into[0], 1, MPI_INT, 0, 5, ring, &receives);
    MPI_Irecv(&into[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, plain, &any);
    MPI_Isend(large, sizeof large, MPI_CHAR, 0, 6, ring, &sends);
    MPI_Irecv(&into[2], 1, MPI_INT, 0, 8, ring, &complete);
    MPI_Send(&word, 1, MPI_INT, 0, 8, ring);
    MPI_Recv_init(&word, 1, MPI_INT, 0, 9, ring, &persistent);
    MPI_Irecv(&into[3], 1, MPI_INT, 0, 10, ring, &taken);
    MPI_Send(&word, 1, MPI_INT, 0, 10, ring);
    MPI_Request had = taken;
    MPI_Wait(&taken, MPI_STATUS_IGNORE);
    taken = had;
    MPI_Message message;
    MPI_Send(&word, 1, MPI_INT, 0, 11, ring);
    MPI_Mprobe(0, 11, ring, &message, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 12, ring);
    /* Sees to it that the last message is one that nothing waits for. */
    while (!here)
        MPI_Iprobe(0, 12, ring, &here, MPI_STATUS_IGNORE);
    look_here();
    if (argc > 1 && !strcmp(argv[1], "core"))
        abort();
    return rubbish == freed;
}
