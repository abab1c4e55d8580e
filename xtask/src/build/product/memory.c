/* Releases memory in every way and asks whether the library noticed: for products with memory/hook, linked in each form.
   The library's lines on standard error are read back through a pipe. */
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static int lines;
static char text[1 << 16];

static void fail(const char *what)
{
    printf("not seen: %s\n", what);
    exit(1);
}

/* Reads what was said since the last call. */
static void hear(void)
{
    ssize_t have = read(lines, text, sizeof text - 1);
    text[have > 0 ? have : 0] = 0;
}

/* Whether one line names a range that holds this one. */
static int told(const void *place, size_t bytes)
{
    uintptr_t begin = (uintptr_t)place;
    for (char *line = strstr(text, " releases "); line; line = strstr(line + 1, " releases ")) {
        unsigned long long length, at;
        if (sscanf(line, " releases %llu bytes at 0x%llx", &length, &at) == 2 && at <= begin &&
            begin + bytes - at <= length) {
            return 1;
        }
    }
    return 0;
}

static int mapped(const void *place, size_t bytes)
{
    static unsigned char pages[1 << 16];
    uintptr_t first = ((uintptr_t)place + 4095) & ~(uintptr_t)4095;
    return mincore((void *)first, (bytes - 8192) & ~(size_t)4095, pages) == 0;
}

static void *thread(void *blocks)
{
    for (int i = 0; i < 100; i++) {
        ((char **)blocks)[i] = memset(malloc(100 << 10), 1, 100 << 10);
    }
    for (int i = 0; i < 100; i++) {
        free(((char **)blocks)[i]);
    }
    return 0;
}

static void freed(void)
{
    size_t sizes[] = {200 << 10, 8 << 20, 40 << 20};
    for (int i = 0; i < 3; i++) {
        char *block = memset(malloc(sizes[i]), 1, sizes[i]);
        uintptr_t place = (uintptr_t)block;
        free(block);
        malloc_trim(0);
        hear();
        if (!mapped((void *)place, sizes[i]) && !told((void *)(place + 4096), sizes[i] - 8192)) {
            fail("free");
        }
    }
    char *blocks[100];
    pthread_t other;
    if (pthread_create(&other, 0, thread, blocks) || pthread_join(other, 0)) {
        fail("a thread");
    }
    hear();
    for (int i = 0; i < 100; i++) {
        if (!mapped(blocks[i], 100 << 10) && !told(blocks[i] + 4096, 90 << 10)) {
            fail("free in a thread");
        }
    }
}

int main(int argc, char **argv)
{
    int ends[2], rank;
    setenv("OMPI_MCA_memory_base_verbose", "100", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int stderr_before = dup(2);
    if (pipe2(ends, O_NONBLOCK) || dup2(ends[1], 2) < 0) {
        fail("pipe");
    }
    lines = ends[0];
    char *area = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hear();
    if (told(area, 1)) {
        fail("a new mapping that releases nothing");
    }
    madvise(area, 4096, MADV_DONTNEED);
    hear();
    if (!told(area, 4096)) {
        fail("madvise");
    }
    if (mremap(area, 65536, 32768, 0) != area || (hear(), !told(area + 32768, 32768))) {
        fail("mremap");
    }
    if (mmap(area, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != area ||
        (hear(), !told(area, 4096))) {
        fail("mmap over a mapping");
    }
    if (munmap(area, 32768) || (hear(), !told(area, 32768))) {
        fail("munmap");
    }
    char *end = sbrk(65536);
    if (brk(end) || (hear(), !told(end, 65536))) {
        fail("brk");
    }
    if (sbrk(65536) != end || sbrk(-65536) != end + 65536 || (hear(), !told(end, 65536))) {
        fail("sbrk");
    }
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    char *attached = segment < 0 ? (char *)-1 : shmat(segment, 0, 0);
    if (attached != (char *)-1) {
        shmctl(segment, IPC_RMID, 0);
        if (shmdt(attached) || (hear(), !told(attached, 4096))) {
            fail("shmdt");
        }
    }
    freed();
    dup2(stderr_before, 2);
    MPI_Finalize();
    printf("ompi-rs saw every release\n");
    return 0;
}
