/*
 * Rank 0 sends long and short messages to rank 1 and takes them back; each byte is checked. For two_networks.sh, which
 * counts what crossed which wire. Prints the bytes per second of the way there, the best message's and that of all together.
 *
 *   two_pairs [bytes] [times [file]]       ends sooner once there is such a file
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned char byte_of(size_t i, int round)
{
    return (unsigned char)(i * 131 + (i >> 8) * 7 + (size_t)round * 29 + 1);
}

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 4 << 20, times = argc > 2 ? atoi(argv[2]) : 16, rank, wrong = 0, is_over = 0;
    double took, all = 0, least = 1e9;
    unsigned char *data = malloc((size_t)bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < times && !is_over; round++) {
        if (rank == 0) {
            for (size_t i = 0; i < (size_t)bytes; i++)
                data[i] = byte_of(i, round);
            took = -MPI_Wtime();
            MPI_Send(data, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD);
            MPI_Recv(&is_over, 1, MPI_INT, 1, times, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            took += MPI_Wtime();
            all += took;
            least = took < least ? took : least;
            MPI_Recv(data, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (size_t i = 0; i < (size_t)bytes; i++)
                wrong += data[i] != (unsigned char)~byte_of(i, round);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            is_over = argc > 3 && access(argv[3], F_OK) == 0;
            MPI_Send(&is_over, 1, MPI_INT, 0, times, MPI_COMM_WORLD);
            for (size_t i = 0; i < (size_t)bytes; i++) {
                wrong += data[i] != byte_of(i, round);
                data[i] = (unsigned char)~data[i];
            }
            MPI_Send(data, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD);
        }
    }
    if (wrong > 0) {
        fprintf(stderr, "two_pairs: rank %d: %d bytes differ\n", rank, wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("ok two_pairs %d bytes, %d times, %.1f MB/s at best, %.1f MB/s in all\n", bytes, times, bytes / least / 1e6,
               (double)bytes * times / all / 1e6);
    free(data);
    MPI_Finalize();
    return 0;
}
