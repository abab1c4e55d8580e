/* What a rank on bare metal can do wrong: each word makes it do one thing, on the last rank. Booted by `cargo xtask test
   boot`, which looks for a readable report and a status that is not 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int *nowhere;
static volatile int zero;

static int deeper(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = (char)depth;
    return deeper(depth + 1) + room[(depth + 1) % 4096];
}

static void die(void)
{
    /* No interrupt table any more: the next exception resets the machine. */
    struct __attribute__((packed)) { unsigned short limit; unsigned long base; } none = {0, 0};
    __asm__ volatile("lidt %0; int3" : : "m"(none));
}

#include <immintrin.h>
/* Registers of 256 bits, if the processor has them: the boot code must have switched them on. */
__attribute__((target("avx2"))) static long long wide(long long one)
{
    long long parts[4];
    __m256i four = _mm256_add_epi64(_mm256_set1_epi64x(one), _mm256_setr_epi64x(1, 2, 3, 4));
    _mm256_storeu_si256((__m256i *)parts, four);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

static void fault(const char *what)
{
    if (!strcmp(what, "avx"))
        printf("avx2 %d, sum %lld\n", !!__builtin_cpu_supports("avx2"), __builtin_cpu_supports("avx2") ? wide(8) : 0);
    if (!strcmp(what, "null"))
        *nowhere = 1;
    if (!strcmp(what, "stack"))
        printf("%d\n", deeper(0));
    if (!strcmp(what, "divide"))
        printf("%d\n", 1000 / zero);
    if (!strcmp(what, "constant"))
        *(volatile char *)(size_t)"text" = 1;
    if (!strcmp(what, "memory") && malloc((size_t)1 << 40) == NULL)
        exit(5);
    if (!strcmp(what, "abort"))
        abort();
    if (!strcmp(what, "exit"))
        exit(7);
    if (!strcmp(what, "file") && fopen("/etc/passwd", "r") == NULL)
        exit(8);
    if (!strcmp(what, "die"))
        die();
    if (!strcmp(what, "mpi_abort"))
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (!strcmp(what, "hang")) {
        printf("the last rank hangs\n");
        fflush(stdout);
        for (;;)
            ;
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && rank == size - 1)
        fault(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
