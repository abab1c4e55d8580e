/* What `cargo xtask test dynamic/crossing` runs: two jobs whose threads meet and part again and again, each over a port of its own, so
 * that one thread leaves a process that the other one meets just then. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 2 };

struct work {
    MPI_Comm comm;
    int accepts, rounds, thread;
    char port[MPI_MAX_PORT_NAME];
};

/* Both sides tell each other the round and the thread. */
static void *meet_and_part(void *argument)
{
    struct work *work = argument;
    for (int round = 0; round < work->rounds; round++) {
        MPI_Comm inter;
        int mine = round * THREADS + work->thread, theirs = -1, rank;
        if (work->accepts)
            MPI_Comm_accept(work->port, MPI_INFO_NULL, 0, work->comm, &inter);
        else
            MPI_Comm_connect(work->port, MPI_INFO_NULL, 0, work->comm, &inter);
        MPI_Comm_rank(inter, &rank);
        MPI_Sendrecv(&mine, 1, MPI_INT, rank, 0, &theirs, 1, MPI_INT, rank, 0, inter, MPI_STATUS_IGNORE);
        if (theirs != mine) {
            printf("wrong: %d came instead of %d\n", theirs, mine);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 9);
        }
        MPI_Comm_disconnect(&inter);
    }
    return NULL;
}

/* `crossing self|world ROUNDS`: each thread has a copy of that communicator. */
int main(int argc, char **argv)
{
    struct work works[THREADS];
    pthread_t threads[THREADS];
    MPI_Comm parent, other;
    int level, rank, size, is_self = argc > 1 && strcmp(argv[1], "self") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL;
    other = parent;
    if (!is_child)
        MPI_Comm_spawn(argv[0], argv + 1, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < THREADS; i++) {
        struct work *work = &works[i];
        *work = (struct work){.accepts = !is_child, .rounds = atoi(argv[2]), .thread = i};
        MPI_Comm_dup(is_self ? MPI_COMM_SELF : MPI_COMM_WORLD, &work->comm);
        if (is_child) {
            MPI_Recv(work->port, sizeof work->port, MPI_CHAR, rank, i, other, MPI_STATUS_IGNORE);
        } else {
            MPI_Open_port(MPI_INFO_NULL, work->port);
            MPI_Send(work->port, sizeof work->port, MPI_CHAR, rank, i, other);
        }
    }
    MPI_Comm_disconnect(&other);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, meet_and_part, &works[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&works[i].comm);
    /* The last ones have left each other, too: how one of the jobs ends is none of the other's business. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_child)
        exit(3);
    usleep(300000);
    MPI_Finalize();
    if (rank == 0)
        puts("nobody minded");
    return 0;
}
