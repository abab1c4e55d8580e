/* Jobs that are looked at from outside; what each does is its argument. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int this_rank, ranks;

/* A thread that waits for a message. */
static void *receives(void *unused)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, (this_rank + 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/* A thread of a pool that has nothing to do. */
static void *idles(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    return unused;
}

/* Computes for so many seconds. */
static void compute(int seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (time_t until = now.tv_sec + seconds; now.tv_sec < until;)
        clock_gettime(CLOCK_MONOTONIC, &now);
}

/* A program that knows MPI by sessions alone: each rank sends the next one three messages, twice. */
static int sessions(void)
{
    for (int turn = 0; turn < 2; turn++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        double number = 1;
        int rank, size;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "seeing", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int i = 0; i < 3; i++)
            MPI_Sendrecv_replace(&number, 1, MPI_DOUBLE, (rank + 1) % size, i, (rank + size - 1) % size, i, comm, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    if (!strcmp(what, "sessions"))
        return sessions();
    int rank, size, word = 0;
    MPI_Comm ring;
    int provided, many = !strcmp(what, "helper") || !strcmp(what, "pool");
    MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    this_rank = rank, ranks = size;
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Comm_set_name(ring, "ring");
    int next = (rank + 1) % size;
    if (!strcmp(what, "cycle")) {
        /* Each waits for the next one, by a call of its own; nobody sends. */
        MPI_Request request;
        switch (rank % 3) {
        case 0:
            MPI_Recv(&word, 1, MPI_INT, next, 7, ring, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Irecv(&word, 1, MPI_INT, next, MPI_ANY_TAG, ring, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Ssend(&word, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
        }
    } else if (!strcmp(what, "helper")) {
        /* Looks like a cycle, and is none: what the threads wait for is sent when the ranks have computed. */
        pthread_t thread;
        pthread_create(&thread, NULL, receives, NULL);
        compute(5);
        MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    } else if (!strcmp(what, "pool")) {
        /* Other threads do nothing: it is a cycle. */
        pthread_t threads[2];
        for (int which = 0; which < 2; which++)
            pthread_create(&threads[which], NULL, idles, NULL);
        MPI_Recv(&word, 1, MPI_INT, next, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "names")) {
        /* On a communicator with the ranks in turned order, and with a name as long as can be that would clear a terminal. */
        char name[MPI_MAX_OBJECT_NAME] = "odd\033[2J\nname ";
        int own;
        MPI_Comm back;
        memset(name + strlen(name), 'x', sizeof name - 1 - strlen(name));
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
        MPI_Comm_set_name(back, name);
        MPI_Comm_rank(back, &own);
        MPI_Recv(&word, 1, MPI_INT, (own + 1) % size, 7, back, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "partitions")) {
        /* Rank 0 waits for partitions that nobody sends, rank 1 for its own MPI_Pready, rank 2 for a receive. */
        MPI_Request request;
        if (rank == 0)
            MPI_Precv_init(&word, 1, 1, MPI_INT, next, 7, ring, MPI_INFO_NULL, &request);
        else
            MPI_Psend_init(&word, 1, 1, MPI_INT, next, 8, ring, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        if (rank == 2)
            MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 2)
            MPI_Recv(&word, 1, MPI_INT, next, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "any")) {
        /* No rank can be named. */
        MPI_Request requests[2];
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 7, ring, MPI_STATUS_IGNORE);
        else if (rank == 1) {
            int index, words[2];
            MPI_Irecv(&words[0], 1, MPI_INT, 0, 1, ring, &requests[0]);
            MPI_Irecv(&words[1], 1, MPI_INT, 0, 2, ring, &requests[1]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        } else
            MPI_Probe(0, 3, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "traffic")) {
        /* Rank 1 is late, rank 2 finds two messages that came before. */
        static char long_one[1 << 20];
        double number = 1;
        if (rank == 0) {
            MPI_Recv(&number, 1, MPI_DOUBLE, 1, 7, ring, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_DOUBLE, 2, 8, ring);
            MPI_Send(&number, 1, MPI_DOUBLE, 2, 9, ring);
            MPI_Send(long_one, sizeof long_one, MPI_BYTE, 2, 10, MPI_COMM_WORLD);
        } else if (rank == 1) {
            usleep(300000);
            MPI_Send(&number, 1, MPI_DOUBLE, 0, 7, ring);
        } else {
            MPI_Recv(&number, 1, MPI_DOUBLE, 0, 9, ring, MPI_STATUS_IGNORE);
            MPI_Recv(&number, 1, MPI_DOUBLE, 0, 8, ring, MPI_STATUS_IGNORE);
            MPI_Recv(long_one, sizeof long_one, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(ring);
    } else if (!strcmp(what, "abort") || !strcmp(what, "die")) {
        /* Each sends the next one three messages; then the last rank ends the job, while the others wait for it. */
        double number = 1;
        for (int turn = 0; turn < 3; turn++)
            MPI_Sendrecv_replace(&number, 1, MPI_DOUBLE, next, turn, (rank + size - 1) % size, turn, ring, MPI_STATUS_IGNORE);
        usleep(50000);
        MPI_Barrier(ring);
        if (rank == size - 1) {
            usleep(50000);
            if (!strcmp(what, "abort"))
                MPI_Abort(MPI_COMM_WORLD, 3);
            raise(SIGKILL);
        }
        MPI_Recv(&number, 1, MPI_DOUBLE, size - 1, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "window")) {
        /* Rank 0 holds what rank 1 waits for, and waits for rank 1. Rank 2 waits for a post that does not come. */
        int *memory = NULL;
        MPI_Win win;
        MPI_Group world, zero;
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        if (rank == 0)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(ring);
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, 1, 7, ring, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        else {
            MPI_Comm_group(MPI_COMM_WORLD, &world);
            MPI_Group_incl(world, 1, (int[]){0}, &zero);
            MPI_Win_start(zero, 0, win);
        }
    } else if (!strcmp(what, "spawn")) {
        /* A job of two ranks that starts another one of one rank. */
        MPI_Comm parent;
        MPI_Comm_get_parent(&parent);
        if (parent == MPI_COMM_NULL) {
            char *arguments[] = {"spawn", NULL};
            MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
        }
        MPI_Sendrecv_replace(&word, 1, MPI_INT, rank ? MPI_PROC_NULL : 0, 6, rank ? MPI_PROC_NULL : 0, 6, parent, MPI_STATUS_IGNORE);
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
    } else if (!strcmp(what, "port")) {
        /* Ranks 0 and 1 accept at a port, and rank 2 connects to one where nobody does. */
        char port[MPI_MAX_PORT_NAME] = "";
        MPI_Comm others, none;
        MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &others);
        if (rank != 1)
            MPI_Open_port(MPI_INFO_NULL, port);
        if (rank == 2)
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, others, &none);
        else
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, others, &none);
    } else if (!strcmp(what, "family")) {
        /* A job that waits for one that it has started, whose ranks wait for each other. */
        MPI_Comm parent;
        MPI_Comm_get_parent(&parent);
        if (parent == MPI_COMM_NULL) {
            char *arguments[] = {"family", NULL};
            MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
            MPI_Recv(&word, 1, MPI_INT, 0, 4, parent, MPI_STATUS_IGNORE);
        }
        MPI_Recv(&word, 1, MPI_INT, next, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "nap")) {
        usleep(2000000);
    } else if (!strcmp(what, "buffered")) {
        /* Each waits until the next one has received what lies in its buffer. */
        static char buffer[(4 << 20) + 1000];
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(buffer, 4 << 20, MPI_BYTE, next, 7, ring);
        void *at;
        int bytes;
        MPI_Buffer_detach(&at, &bytes);
    } else if (!strcmp(what, "file")) {
        /* The last rank does not open it. */
        MPI_File file;
        if (rank < size - 1)
            MPI_File_open(ring, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        else
            MPI_Recv(&word, 1, MPI_INT, 0, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "mismatch")) {
        MPI_Comm copy;
        if (rank)
            MPI_Comm_split(ring, 0, 0, &copy);
        else
            MPI_Comm_dup(ring, &copy);
    } else if (!strcmp(what, "late")) {
        /* Rank 2 computes before each collective operation; rank 0 waits for rank 1, and that one for rank 2. */
        int sum;
        for (int i = 0; i < 3; i++) {
            if (rank == 2)
                usleep(150000);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        if (rank == 2)
            usleep(150000);
        if (rank < 2)
            MPI_Recv(&word, 1, MPI_INT, rank + 1, 7, ring, MPI_STATUS_IGNORE);
        if (rank == 1 || rank == 2)
            MPI_Send(&rank, 1, MPI_INT, rank - 1, 7, ring);
    } else if (!strcmp(what, "collective")) {
        /* The last rank does not come. */
        if (rank == size - 1)
            MPI_Recv(&word, 1, MPI_INT, 0, 7, ring, MPI_STATUS_IGNORE);
        else
            MPI_Barrier(ring);
    }
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
