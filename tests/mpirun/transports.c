/*
 * Events of transports, MPI 5.0 section 15.3.8: a tool hears of each process that a transport begins to reach, and with the argument
 * `lost` of one whose connections break.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RANKS = 8 };

static int connected[RANKS], lost[RANKS], wrong;
static char transport[RANKS][32];

static void heard(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    int rank = -1, number = -1, value = -1, length = sizeof transport[0], *counts = data;
    MPI_T_enum words;
    (void)registration, (void)safety;
    if (MPI_T_event_read(instance, 0, &rank) || MPI_T_event_read(instance, 1, &number) || rank < 0 || rank >= RANKS) {
        wrong++;
        return;
    }
    int index = -1, bind = -1;
    MPI_T_event_get_index("btl_connected", &index);
    MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, &bind);
    wrong += bind != MPI_T_BIND_NO_OBJECT;
    wrong += MPI_T_enum_get_item(words, number, &value, transport[rank], &length) != MPI_SUCCESS || value != number;
    counts[rank]++;
}

static void hear(const char *name, int *counts)
{
    int index;
    MPI_T_event_registration registration;
    wrong += MPI_T_event_get_index(name, &index) != MPI_SUCCESS;
    wrong += MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) != MPI_SUCCESS;
    wrong += MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, counts, heard) != MPI_SUCCESS;
}

/* Breaks this process's connections with others. */
static void break_connections(void)
{
    for (int descriptor = 3; descriptor < 1024; descriptor++) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (getpeername(descriptor, (struct sockaddr *)&peer, &length) == 0 && peer.ss_family == AF_INET)
            shutdown(descriptor, SHUT_RDWR);
    }
}

int main(int argc, char **argv)
{
    int provided, rank, size, word = 7;
    int breaks = argc > 1 && !strcmp(argv[1], "lost");
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    hear("btl_connected", connected);
    hear("btl_lost", lost);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv_replace(&word, 1, MPI_INT, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (breaks && rank == 1) {
        break_connections();
        pause();
    }
    if (breaks && rank == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_Recv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), class = MPI_SUCCESS;
        MPI_Error_class(code, &class);
        MPI_Barrier(MPI_COMM_SELF);
        if (class == MPI_ERR_PROC_ABORTED && lost[1] == 1 && wrong == 0)
            fprintf(stderr, "rank 1 was lost by %s\n", transport[1]);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    /* Told by now: of both neighbours, once. */
    if (connected[next] != 1 || connected[before] != 1 || lost[next] || wrong)
        fprintf(stderr, "rank %d: connected %d and %d times, %d mistakes\n", rank, connected[next], connected[before], wrong);
    else
        fprintf(stderr, "rank %d reaches rank %d by %s\n", rank, next, transport[next]);
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
