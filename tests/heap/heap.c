/*
 * Memory of malloc in a library with memory/shheap. The first argument says what is tried:
 *   messages  messages from and to memory of malloc, calloc and realloc that is freed, grows and comes again, and windows over it
 *   forks     what children have: a copy as of the fork, of their own, and programs that are started meanwhile
 *   threads   the same where a thread forks while others allocate
 *   nothing   children without the memory of their parent (memory_shheap_children nothing)
 *   stack     a fork on a stack that malloc gave ends the child, and only the child
 *   private   malloc gives private memory, and all is as without the component
 * Compiled with OWN_MALLOC it brings a malloc of its own, which must win.
 */
#define _GNU_SOURCE
#include "check.h"
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { LONG = 300007, MOST = 3 << 20 };

#ifdef OWN_MALLOC
void *__libc_malloc(size_t);
void __libc_free(void *);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
static int own_calls;
void *malloc(size_t n) { own_calls++; return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
#endif

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

/* Whether the system says that it is a part of the file that peers map. */
static int is_shareable(const void *p)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long long from, to;
        if (sscanf(line, "%llx-%llx", &from, &to) == 2 && from <= (uintptr_t)p && (uintptr_t)p < to)
            found = strstr(line, "ompi-rs shared") != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

static unsigned char *filled(size_t bytes, int seed)
{
    unsigned char *p = malloc(bytes);
    CHECK(p != NULL);
    fill(p, bytes, seed);
    return p;
}

/* Rounds of a ring: buffers of all kinds, freed when the messages are over, or longer for the next round. */
static void messages(void)
{
    enum { ROUNDS = 200 };
    unsigned state = 4711;
    unsigned char *grows = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 1103515245u + 12345u;
        size_t bytes = 40000 + (state >> 8) % MOST;
        unsigned char *out = filled(bytes, round + check_rank * 1000), *in = calloc(1, bytes);
        MPI_Request q[2];
        MPI_Status s[2];
        CHECK_EQ(is_shareable(out), bytes >= 65536);
        CHECK_EQ(in[0] | in[bytes / 2] | in[bytes - 1], 0);
        if (round % 4 == 1) {
            grows = realloc(grows, bytes);
            memset(grows, 0, bytes);
        }
        unsigned char *to = round % 4 == 1 ? grows : in;
#ifdef SEED_LOST_BYTE_MISTAKE
        out[bytes / 2] ^= 1;
#endif
        MPI_Irecv(to, (int)bytes, MPI_BYTE, previous(), round, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, (int)bytes, MPI_BYTE, next(), round, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, s);
        CHECK_STATUS(s[0], previous(), round, (int)bytes);
        CHECK_BYTES(to, bytes, round + previous() * 1000);
        /* At once: the peer has what it needs. */
        free(out);
        free(in);
    }
    free(grows);
}

static void windows(void)
{
    unsigned char *base = filled(LONG, check_rank), *got = malloc(LONG);
    MPI_Win win;
    MPI_Win_create(base, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(got, LONG, MPI_BYTE, next(), 0, LONG, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK_BYTES(got, LONG, next());
    fill(got, LONG, 50 + check_rank);
    MPI_Put(got, LONG, MPI_BYTE, next(), 0, LONG, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK_BYTES(base, LONG, 50 + previous());
    MPI_Win_free(&win);
    free(base);
    free(got);
}

/* How a child ended. */
static int ended(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* In a child: what is wrong is its exit status. */
static void child_ends(void) { _exit(check_failures != 0); }

/* Parent and child, and the child's child, write the same memory after the fork and each sees its own. */
static void copies(int generations)
{
    unsigned char *p = filled(LONG, 1), *end = filled(65536, 2), *zeros = calloc(1, MOST);
    int go[2];
    CHECK(pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        /* The parent has written by now. */
        CHECK(read(go[0], &byte, 1) == 1);
        close(go[0]);
        CHECK_BYTES(p, LONG, 1);
        CHECK_BYTES(end, 65536, 2);
        CHECK(zeros[0] == 0 && zeros[MOST - 1] == 0);
        fill(p, LONG, 20 + generations);
        if (generations > 1)
            copies(generations - 1);
        CHECK_BYTES(p, LONG, 20 + generations);
        /* All that a program does with memory. */
        p = realloc(p, 4 * LONG);
        CHECK_BYTES(p, LONG, 20 + generations);
        unsigned char *own = filled(LONG, 7);
        CHECK_BYTES(own, LONG, 7);
        CHECK(is_shareable(own));
        free(own);
        free(p);
        free(end);
        free(zeros);
        child_ends();
    }
    fill(p, LONG, 9);
    memset(zeros, 1, MOST);
    CHECK(write(go[1], "x", 1) == 1);
    CHECK_EQ(ended(child), 0);
    CHECK_BYTES(p, LONG, 9);
    CHECK_BYTES(end, 65536, 2);
    CHECK(zeros[0] == 1 && zeros[MOST - 1] == 1);
    close(go[0]);
    close(go[1]);
    free(p);
    free(end);
    free(zeros);
}

extern char **environ;

/* Programs that start others, in between messages. */
static void starts(void)
{
    unsigned char *p = filled(LONG, 3);
    char *words[] = {"true", NULL};
    pid_t child;
    CHECK_EQ(posix_spawnp(&child, "true", NULL, NULL, words, environ), 0);
    CHECK_EQ(ended(child), 0);
    CHECK_EQ(system("true"), 0);
    child = vfork();
    if (child == 0) {
        execvp("true", words);
        _exit(1);
    }
    CHECK_EQ(ended(child), 0);
    child = fork();
    if (child == 0) {
        execvp("true", words);
        _exit(1);
    }
    CHECK_EQ(ended(child), 0);
    CHECK_BYTES(p, LONG, 3);
    free(p);
}

/* Handlers of a fork that were there before the library's, so that they run amid what it does. */
static unsigned char *of_handlers;

static void handles(void)
{
    unsigned char *p = filled(LONG, 6);
    CHECK_BYTES(p, LONG, 6);
    p = realloc(p, 2 * LONG);
    CHECK_BYTES(p, LONG, 6);
    free(p);
    if (of_handlers != NULL)
        CHECK(malloc_usable_size(of_handlers) >= LONG);
    free(of_handlers);
    of_handlers = NULL;
}

__attribute__((constructor(101))) static void early(void) { pthread_atfork(handles, handles, handles); }

static void forks(void)
{
    of_handlers = filled(LONG, 8);
    copies(3);
    messages();
    for (int i = 0; i < 10; i++) {
        starts();
        copies(1);
    }
    messages();
}

static int over;

static void *allocates(void *unused)
{
    for (int i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        size_t bytes = 65536 + (size_t)(i * 7919) % 500000;
        unsigned char *p = filled(bytes, i);
        CHECK_BYTES(p, bytes, i);
        free(p);
    }
    return unused;
}

/* The child of a process with threads has a copy, may free it, and has malloc. */
static void threads(void)
{
    enum { THREADS = 3, FORKS = 30 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, allocates, NULL) == 0);
    for (int i = 0; i < FORKS; i++) {
        unsigned char *p = filled(LONG, i);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            CHECK_BYTES(p, LONG, i);
            fill(p, LONG, 99);
            p = realloc(p, 2 * LONG);
            CHECK_BYTES(p, LONG, 99);
            free(p);
            allocates((__atomic_store_n(&over, 1, __ATOMIC_RELAXED), NULL));
            unsigned char *own = filled(LONG, 5);
            CHECK_BYTES(own, LONG, 5);
            free(own);
            child_ends();
        }
        CHECK_EQ(ended(child), 0);
        CHECK_BYTES(p, LONG, i);
        free(p);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    messages();
}

/* A child has short blocks and malloc; what is long is not there. */
static void nothing(void)
{
    unsigned char *p = filled(LONG, 1), *small = filled(1000, 2);
    for (int touches = 0; touches < 2; touches++) {
        pid_t child = fork();
        if (child == 0) {
            unsigned char *own = filled(LONG, 7);
            CHECK_BYTES(small, 1000, 2);
            CHECK_BYTES(own, LONG, 7);
            free(own);
            signal(SIGSEGV, SIG_DFL);
            if (touches)
                *(volatile unsigned char *)p = 1;
            free(p);
            child_ends();
        }
        int status = ended(child);
        if (touches)
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        else
            CHECK_EQ(status, 0);
    }
    CHECK_BYTES(p, LONG, 1);
    free(p);
    free(small);
    starts();
    messages();
}

static ucontext_t main_stack, other_stack;
static int other_status;

static void on_other_stack(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    other_status = ended(child);
}

static void stack(void)
{
    enum { STACK = 1 << 20 };
    unsigned char *memory = malloc(STACK), *p = filled(LONG, 1);
    CHECK(is_shareable(memory));
    getcontext(&other_stack);
    other_stack.uc_stack.ss_sp = memory;
    other_stack.uc_stack.ss_size = STACK;
    other_stack.uc_link = &main_stack;
    makecontext(&other_stack, on_other_stack, 0);
    swapcontext(&main_stack, &other_stack);
    CHECK(WIFSIGNALED(other_status) && WTERMSIG(other_status) == SIGSEGV);
    CHECK_BYTES(p, LONG, 1);
    free(p);
    free(memory);
    copies(1);
    messages();
}

static void private_memory(void)
{
    unsigned char *p = filled(LONG, 1), *aligned = NULL;
    CHECK_EQ(posix_memalign((void **)&aligned, 4096, LONG), 0);
    CHECK(!is_shareable(p) && !is_shareable(aligned));
    CHECK(malloc_usable_size(p) >= LONG && malloc_usable_size(aligned) >= LONG);
    p = realloc(p, 2 * LONG);
    CHECK(p != NULL && !is_shareable(p));
    CHECK_BYTES(p, LONG, 1);
    free(p);
    free(aligned);
#ifdef OWN_MALLOC
    CHECK(own_calls > 0);
#endif
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"messages", messages}, {"forks", forks}, {"threads", threads},
               {"nothing", nothing},   {"stack", stack}, {"private", private_memory}};
    const char *wanted = argc > 1 ? argv[1] : "";
    int found = 0;
    start(&argc, &argv, "heap");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, wanted) == 0) {
            all[i].run();
            found = 1;
        }
    }
    CHECK(found);
    if (strcmp(wanted, "messages") == 0)
        windows();
    return finish();
}
