/*
 * What `cargo xtask bench spawn` runs: MPI_Comm_spawn of this program until the first message of a child, and pairs of MPI_Comm_accept
 * and MPI_Comm_connect. Arguments: how many children (0: the pairs), how many samples. Prints a line `spawn MILLISECONDS` or
 * `connect MILLISECONDS` for each sample.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int child(MPI_Comm parent, int samples)
{
    char port[MPI_MAX_PORT_NAME];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, parent);
    for (int i = 0; i < samples; i++) {
        MPI_Comm inter;
        if (i == 0)
            MPI_Recv(port, sizeof port, MPI_CHAR, 0, 2, parent, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Send(NULL, 0, MPI_INT, 0, 4, inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static MPI_Comm spawned(char *program, int children, char *samples, double *start)
{
    char *words[] = {"child", samples, NULL};
    int rank;
    MPI_Comm inter;
    *start = MPI_Wtime();
    MPI_Comm_spawn(program, words, children, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    MPI_Recv(&rank, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    return inter;
}

int main(int argc, char **argv)
{
    double start;
    int rank, children, samples;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm parent, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(parent, atoi(argv[2]));
    children = atoi(argv[1]), samples = atoi(argv[2]);
    for (int i = 0; i < samples && children > 0; i++) {
        inter = spawned(argv[0], children, "0", &start);
        printf("spawn %.3f\n", (MPI_Wtime() - start) * 1e3);
        for (int k = 1; k < children; k++)
            MPI_Recv(&rank, 1, MPI_INT, k, 1, inter, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&inter);
    }
    if (children == 0) {
        inter = spawned(argv[0], 1, argv[2], &start);
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 2, inter);
        for (int i = 0; i < samples; i++) {
            MPI_Comm there;
            start = MPI_Wtime();
            MPI_Send(NULL, 0, MPI_INT, 0, 3, inter);
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &there);
            MPI_Recv(NULL, 0, MPI_INT, 0, 4, there, MPI_STATUS_IGNORE);
            printf("connect %.3f\n", (MPI_Wtime() - start) * 1e3);
            MPI_Comm_disconnect(&there);
        }
        MPI_Close_port(port);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
