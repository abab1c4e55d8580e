// covers: MPI_Send MPI_Recv MPI_Alloc_mem MPI_Free_mem MPI_T_pvar_read
/*
 * Memory whose pages go and come anew at the same address while its registration is kept: each way in which a program does that, by name.
 * The arguments are a library of this very source, compiled with -DLIBRARY, and
 *   seen      every way is told to whoever keeps registrations, and what is sent is what lies there
 *   unseen    the system is called by hand, which nobody hears of: over a fabric that reaches pages by their registration all this fails
 *   counted   as the first, and each way registers just what is new
 */
#define _GNU_SOURCE
enum { BYTES = 256 << 10 };
#ifdef LIBRARY
unsigned char data_of_library[BYTES];
#else
#include "../c/check.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 40, THREADS = 3, LAST = 32000 };

static int unseen, counted;
static const char *library;

/* The C library's function, which may hear of it, or the system's call. */
#define CALL(name, ...) (unseen ? (void *)syscall(SYS_##name, __VA_ARGS__) : (void *)(long)name(__VA_ARGS__))
#define MUST(condition)                                                                                                   \
    do {                                                                                                                  \
        if (!(condition)) {                                                                                               \
            printf("gone, line %d: %s: %m\n", __LINE__, #condition);                                                      \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                                                 \
        }                                                                                                                 \
    } while (0)

static unsigned long long registrations(void)
{
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    static MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    int index, count;
    if (session == MPI_T_PVAR_SESSION_NULL) {
        MUST(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
        MUST(MPI_T_pvar_get_index("rcache_grdma_registrations", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
        MUST(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
        MPI_T_pvar_start(session, handle);
    }
    MUST(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

static const char *way = "?";
/* By the receiver, so that it knows the way, too. */
static int way_number;

/* Fills memory anew and sends it. */
static void post(unsigned char *data, int bytes)
{
    static int sent;
    int number = __atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED) % 250;
    fill(data, bytes, number);
    MPI_Send(data, bytes, MPI_BYTE, 1, way_number * 256 + number, MPI_COMM_WORLD);
}

/* The same, and how often memory is registered for it. */
static void sends(unsigned char *data, int bytes, unsigned long long wanted)
{
    unsigned long long made = registrations();
    post(data, bytes);
    made = registrations() - made;
    if (counted)
        CHECK_MSG(made == wanted, "%s: %llu registrations instead of %llu", way, made, wanted);
}

/* New memory, and memory that is registered. */
static void sends_twice(unsigned char *data, int bytes)
{
    sends(data, bytes, 1);
    sends(data, bytes, 0);
}

static unsigned char *map_at(void *at, size_t bytes, int flags)
{
    unsigned char *base = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    MUST(base != MAP_FAILED && (at == NULL || base == at));
    return base;
}

static unsigned char *map_new(size_t bytes)
{
    return map_at(NULL, bytes, 0);
}

static void unmapped(void)
{
    unsigned char *data = map_new(BYTES);
    for (int round = 0; round < 3; round++) {
        sends_twice(data, BYTES);
        MUST(CALL(munmap, data, BYTES) == 0);
        map_at(data, BYTES, MAP_FIXED_NOREPLACE);
    }
    munmap(data, BYTES);
}

static void mapped_over(void)
{
    unsigned char *data = map_new(BYTES);
    sends_twice(data, BYTES);
    MUST(CALL(mmap, data, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == data);
    sends_twice(data, BYTES);
    /* One page in the middle. */
    MUST(CALL(mmap, data + BYTES / 2, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == data + BYTES / 2);
    sends_twice(data, BYTES);
    munmap(data, BYTES);
}

static void moved_away(void)
{
    unsigned char *data = map_new(BYTES), *other = map_new(BYTES);
    sends_twice(data, BYTES);
    MUST(CALL(mremap, data, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
    map_at(data, BYTES, MAP_FIXED_NOREPLACE);
    sends_twice(data, BYTES);
    sends_twice(other, BYTES);
    munmap(data, BYTES);
    munmap(other, BYTES);
}

static void moved_onto(void)
{
    unsigned char *data = map_new(BYTES), *other = map_new(BYTES);
    sends_twice(data, BYTES);
    sends_twice(other, BYTES);
    MUST(CALL(mremap, other, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, data) == data);
    sends_twice(data, BYTES);
    munmap(data, BYTES);
}

static void shrunk(void)
{
    unsigned char *data = map_new(BYTES);
    sends_twice(data, BYTES);
    MUST(CALL(mremap, data, BYTES, BYTES / 2, 0) == data);
    map_at(data + BYTES / 2, BYTES / 2, MAP_FIXED_NOREPLACE);
    sends_twice(data, BYTES);
    munmap(data, BYTES);
}

/* As allocators do that keep their addresses and give the pages back. */
static void pages_dropped(void)
{
    unsigned char *arena = map_new(4 * BYTES);
    for (int block = 0; block < 4; block++)
        sends_twice(arena + block * BYTES, BYTES);
    for (int block = 0; block < 4; block += 2)
        MUST(CALL(madvise, arena + block * BYTES, BYTES, MADV_DONTNEED) == 0);
    for (int block = 0; block < 4; block += 2)
        sends_twice(arena + block * BYTES, BYTES);
    /* The others are as they were. */
    sends(arena + BYTES, BYTES, 0);
    munmap(arena, 4 * BYTES);
}

/* The system drops these pages when it likes, and none that a card holds: only counts tell whether it was heard. */
static void pages_offered(void)
{
    unsigned char *data = map_new(BYTES);
    sends_twice(data, BYTES);
    MUST(madvise(data, BYTES, MADV_FREE) == 0);
    sends_twice(data, BYTES);
    munmap(data, BYTES);
}

/* A heap of the program's own, over the system's. */
static void break_moved(void)
{
    for (int tries = 0; tries < 50; tries++) {
        unsigned char *data = sbrk(BYTES);
        MUST(data != (void *)-1);
        post(data, BYTES);
        /* Whoever allocated meanwhile has put something behind it. */
        if (sbrk(0) != data + BYTES)
            continue;
        if (unseen) {
            MUST(syscall(SYS_brk, data) == (long)data && syscall(SYS_brk, data + BYTES) == (long)data + BYTES);
        } else {
            MUST(sbrk(-BYTES) != (void *)-1 && sbrk(BYTES) == data);
        }
        return sends_twice(data, BYTES);
    }
    MUST(!"the end of the heap stays where it is");
}

/* malloc gives pages back, if the program has told it so behind memory/hook's back. */
static void heap_trimmed(void)
{
    unsigned char *data, *again;
    if (unseen)
        mallopt(M_TRIM_THRESHOLD, 0);
    data = check_alloc(64 * BYTES);
    post(data, 64 * BYTES);
    free(data);
    again = check_alloc(64 * BYTES);
    post(again, 64 * BYTES);
    free(again);
}

static void reallocated(void)
{
    unsigned char *data = NULL, *beside[ROUNDS];
    for (int round = 1; round < ROUNDS; round++) {
        data = realloc(data, round * (BYTES / 3) + 1);
        MUST(data != NULL);
        post(data, round * (BYTES / 3) + 1);
        post(data, round * (BYTES / 3) + 1);
        /* In its way, so that it moves. */
        beside[round] = check_alloc(round % 3 * 5000);
    }
    for (int round = 1; round < ROUNDS; round++)
        free(beside[round]);
    free(data);
}

static unsigned char *attach(const void *at, int flags)
{
    int segment = shmget(IPC_PRIVATE, BYTES, 0600);
    void *base;
    MUST(segment != -1);
    base = unseen && at != NULL ? (void *)syscall(SYS_shmat, segment, at, flags) : shmat(segment, at, flags);
    shmctl(segment, IPC_RMID, NULL);
    MUST(base != (void *)-1 && (at == NULL || base == at));
    return base;
}

/* How long a segment is, nobody knows who hears of its end: it is registered for each message. */
static void segment_detached(void)
{
    unsigned char *data = attach(NULL, 0);
    sends(data, BYTES, 1);
    MUST(shmdt(data) == 0);
    attach(data, 0);
    sends(data, BYTES, 1);
    sends(data, BYTES, 1);
    MUST(shmdt(data) == 0);
}

static void segment_over(void)
{
    unsigned char *data = map_new(BYTES);
    sends_twice(data, BYTES);
    attach(data, SHM_REMAP);
    sends(data, BYTES, 1);
    sends(data, BYTES, 1);
    MUST(shmdt(data) == 0);
}

/* Pages of a file go with it, without a call that names an address. */
static void file_cut(void)
{
    int file = memfd_create("cut", MFD_CLOEXEC);
    unsigned char *data;
    MUST(file >= 0 && ftruncate(file, BYTES) == 0);
    data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(data != MAP_FAILED);
    sends(data, BYTES, 1);
    MUST(ftruncate(file, 0) == 0 && ftruncate(file, BYTES) == 0);
    sends(data, BYTES, 1);
    MUST(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES) == 0);
    sends(data, BYTES, 1);
    /* As long as before, and elsewhere, it is still a file's. */
    data = mremap(data, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    MUST(data != MAP_FAILED && ftruncate(file, 2 * BYTES) == 0);
    sends(data, 2 * BYTES, 1);
    MUST(ftruncate(file, 0) == 0 && ftruncate(file, 2 * BYTES) == 0);
    sends(data, 2 * BYTES, 1);
    munmap(data, 2 * BYTES);
    close(file);
}

static void library_closed(void)
{
    for (int round = 0; round < 3; round++) {
        void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        unsigned char *data = opened != NULL ? dlsym(opened, "data_of_library") : NULL;
        MUST(data != NULL);
        sends(data, BYTES, 1);
        sends(data, BYTES, 1);
        dlclose(opened);
    }
}

static void *on_stack(void *unused)
{
    unsigned char data[BYTES];
    post(data, BYTES);
    return unused;
}

/* The next thread has the same stack, of new pages. */
static void stack_ended(void)
{
    pthread_t thread;
    for (int round = 0; round < 3; round++)
        MUST(pthread_create(&thread, NULL, on_stack, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Parent and child have the same pages until one of them writes. */
static void forked(void)
{
    unsigned char *data = map_new(BYTES);
    int until[2], child;
    char byte;
    sends_twice(data, BYTES);
    MUST(pipe(until) == 0);
    child = fork();
    if (child == 0) {
        close(until[1]);
        fill(data, BYTES, 77);
        if (read(until[0], &byte, 1) == 0)
            munmap(data, BYTES);
        _exit(0);
    }
    MUST(child > 0);
    sends(data, BYTES, 0);
    sends(data, BYTES, 0);
    close(until[0]);
    close(until[1]);
    MUST(waitpid(child, NULL, 0) == child);
    sends(data, BYTES, 0);
    munmap(data, BYTES);
}

static void *maps_and_sends(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = BYTES / (1 + round % 3);
        unsigned char *data = map_new(bytes);
        post(data, bytes);
        post(data, bytes);
        MUST(CALL(munmap, data, bytes) == 0);
    }
    return unused;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int t = 0; t < THREADS; t++)
        MUST(pthread_create(&all[t], NULL, maps_and_sends, NULL) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(all[t], NULL);
}

/* The library knows best when this goes. */
static void given_by_mpi(void)
{
    unsigned char *data, *before = NULL;
    for (int round = 0; round < 3; round++) {
        MUST(MPI_Alloc_mem(16 * BYTES, MPI_INFO_NULL, &data) == MPI_SUCCESS);
        sends(data, 16 * BYTES, 1);
        sends(data, 16 * BYTES, 0);
        CHECK_MSG(round == 0 || data == before, "%s: the same address was expected", way);
        before = data;
        MPI_Free_mem(data);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    /* By hand it is not heard of, and what comes is wrong. */
    int fails_unseen;
} ways[] = {
    {"unmapped", unmapped, 1},
    {"mapped_over", mapped_over, 1},
    {"moved_away", moved_away, 1},
    {"moved_onto", moved_onto, 1},
    {"shrunk", shrunk, 1},
    {"pages_dropped", pages_dropped, 1},
    {"pages_offered", pages_offered, 0},
    {"break_moved", break_moved, 1},
    {"reallocated", reallocated, 0},
    {"segment_detached", segment_detached, 0},
    {"segment_over", segment_over, 1},
    {"file_cut", file_cut, 0},
    {"library_closed", library_closed, 0},
    {"stack_ended", stack_ended, 0},
    {"forked", forked, 0},
    {"threads", threads, 1},
    {"given_by_mpi", given_by_mpi, 0},
    /* Last: what malloc is told, it keeps. */
    {"heap_trimmed", heap_trimmed, 1},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void receive(void)
{
    static unsigned char in[64 * BYTES], want[64 * BYTES];
    int wrong[WAYS] = {0}, bytes;
    for (;;) {
        MPI_Status status;
        MPI_Recv(in, sizeof in, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == LAST)
            break;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        fill(want, bytes, status.MPI_TAG % 256);
        wrong[status.MPI_TAG / 256] += memcmp(in, want, bytes) != 0;
    }
    for (int w = 0; w < WAYS; w++) {
        if (unseen)
            CHECK_MSG((wrong[w] > 0) == ways[w].fails_unseen, "%s: %d messages were other pages'", ways[w].name, wrong[w]);
        else
            CHECK_MSG(wrong[w] == 0, "%s: %d messages are not what was sent", ways[w].name, wrong[w]);
    }
}

int main(int argc, char **argv)
{
    int level;
    check_name = "gone";
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK(argc == 3 && check_ranks == 2 && level == MPI_THREAD_MULTIPLE);
    library = argv[1];
    unseen = argc == 3 && strcmp(argv[2], "unseen") == 0;
    counted = argc == 3 && strcmp(argv[2], "counted") == 0;
    if (check_rank == 0) {
        for (way_number = 0; way_number < WAYS; way_number++) {
            way = ways[way_number].name;
            ways[way_number].run();
        }
        MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
    } else {
        receive();
    }
    return finish();
}
#endif
