/* Ends in the way that its argument names: what mpirun says about it is tested. */
#define _GNU_SOURCE /* sigaltstack, MAP_ANONYMOUS */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not joined with their callers. */
#define APART __attribute__((noinline, noclone))
APART int compute(volatile long *count);
APART int follow(int *nowhere);
APART int descend(volatile int depth);

int compute(volatile long *count)
{
    while (*count >= 0) {
        *count = *count / 2 + 1;
    }
    return 0;
}

int follow(int *nowhere)
{
    return *nowhere + 1;
}

int descend(volatile int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth == -1 ? 0 : descend(depth + 1) + room[0];
}

static int result_of_one;

static void own_handler(int number)
{
    (void)number;
    _exit(9);
}

static sigjmp_buf before;

static void recover(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    siglongjmp(before, 1);
}

/* As little room for handlers as SIGSTKSZ has long been, above a page that ends who wants more. */
static void small_stack(void)
{
    enum { GUARD = 4096, ROOM = 8192 };
    char *room = mmap(NULL, GUARD + ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = room + GUARD, .ss_size = ROOM};
    mprotect(room, GUARD, PROT_NONE);
    sigaltstack(&stack, NULL);
}

static char *low;

/* As a run-time system's whose stacks grow: the page is memory from now on. */
static void grow(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    mprotect((char *)((size_t)info->si_addr & ~(size_t)4095), 4096, PROT_READ | PROT_WRITE);
}

/* Touches a page below the stack pointer that is no memory yet. */
static void grow_stack(void)
{
    low = (char *)(((size_t)__builtin_frame_address(0) & ~(size_t)4095) - 8 * 4096);
    mprotect(low, 4096, PROT_NONE);
    *(volatile char *)low = 1;
}

/* Handlers as Rust's standard library has them, which end nothing. */
static void handle_crashes(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* Rank 0 sends more than rank 1 has room for. */
static void truncate_message(const char *what, int rank)
{
    static char data[1 << 20];
    MPI_Request r;
    MPI_Status s;
    int flag = 0, bytes = strcmp(what, "truncate") == 0 ? 32 : 1 << 20;
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    } else if (strcmp(what, "truncate") == 0) {
        MPI_Recv(data, 16, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(data, bytes / 2, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
        if (strcmp(what, "truncate-all") == 0) {
            MPI_Waitall(1, &r, &s);
        } else if (strcmp(what, "truncate-all-quiet") == 0) {
            MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
        } else if (strcmp(what, "truncate-status-all") == 0) {
            while (!flag) {
#if MPI_VERSION > 4 /* Older libraries compile this program, too. */
                MPI_Request_get_status_all(1, &r, &flag, MPI_STATUSES_IGNORE);
#endif
            }
        } else {
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
    }
}

/* The default error handler of files returns: nobody has to set one to see that a file cannot be opened. */
static void open_file(void)
{
    MPI_File file;
    int class, code = MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_UNSUPPORTED_OPERATION && class != MPI_ERR_NO_SUCH_FILE) {
        exit(3);
    }
    code = MPI_File_delete("no/such/file", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) {
        exit(4);
    }
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_delete("no/such/file", MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
    int rank, ends[2] = {-1, -1};
    volatile long count = 1;
    volatile int result = 0;
    const char *what = argc > 1 ? argv[1] : "end";
    if (strcmp(what, "handler-before") == 0) {
        signal(SIGSEGV, own_handler);
    }
    if (strncmp(what, "small-stack", 11) == 0) {
        small_stack();
    }
    if (strcmp(what, "recover") == 0 || strcmp(what, "grow") == 0) {
        small_stack();
        handle_crashes(what[0] == 'g' ? grow : recover);
    }
    if (strcmp(what, "fork-before") == 0 && pipe(ends) == 0 && fork() > 0) {
        /* The child is the rank when this process tries, too. */
        char byte;
        close(ends[1]);
        count = read(ends[0], &byte, 1);
    }
    if (strcmp(what, "abort-early") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Init(&argc, &argv);
    if (strcmp(what, "fork-before") == 0) {
        close(ends[1]);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "fork-after") == 0 && rank == 1 && fork() == 0) {
        /* A guard of a program's own must not meet the refusal. */
        int initialized, finalized;
        MPI_Initialized(&initialized);
        MPI_Finalized(&finalized);
        if (initialized && finalized) {
            MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        }
        _exit(0);
    }
    if (strcmp(what, "fork-after") == 0 && rank == 0) {
        MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "error") == 0 && rank == 0) {
        MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "unnamed") == 0) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        if (rank == 0) {
            MPI_Send(&rank, -1, MPI_INT, 0, 0, half);
        }
    }
    if (strcmp(what, "no-communicator") == 0 && rank == 0) {
        MPI_Datatype none;
        MPI_Type_contiguous(-1, MPI_INT, &none);
    }
    if (strcmp(what, "in-status") == 0 && rank == 0) {
        int one[2], two[2] = {1, 2};
        MPI_Request q[3];
        MPI_Status s[3];
        MPI_Irecv(&result_of_one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q[0]);
        MPI_Irecv(one, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &q[1]);
        MPI_Isend(two, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q[2]);
        MPI_Send(two, 2, MPI_INT, 0, 2, MPI_COMM_SELF);
        MPI_Waitall(3, q, s);
    }
    if (strcmp(what, "handler-after") == 0) {
        signal(SIGSEGV, own_handler);
    }
    if ((strcmp(what, "crash") == 0 || strncmp(what, "handler", 7) == 0) && rank == 1) {
        result = follow(NULL);
    }
    if (strncmp(what, "truncate", 8) == 0 && rank < 2) {
        truncate_message(what, rank);
    }
    if (strcmp(what, "unequal") == 0) {
        int data[8] = {0};
        MPI_Bcast(data, rank == 0 ? 8 : 4, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "file") == 0) {
        open_file();
    }
    if (strcmp(what, "overflow") == 0 && rank == 1) {
        result = descend(0);
    }
    for (count = 0; strcmp(what, "recover") == 0 && rank == 1 && count < 3; count++) {
        if (sigsetjmp(before, 1) == 0) {
            result = follow(NULL);
        }
    }
    if (strcmp(what, "grow") == 0 && rank == 1) {
        grow_stack();
        fprintf(stderr, "grown\n");
    }
    if (strcmp(what, "recover") == 0 && rank == 1) {
        fprintf(stderr, "recovered\n");
    }
    if (strcmp(what, "small-stack") == 0 && rank == 1) {
        result = follow(NULL);
    }
    if ((strcmp(what, "abort") == 0 || strcmp(what, "small-stack-abort") == 0) && rank == 1) {
        abort();
    }
    if (strcmp(what, "deadlock") == 0 && rank == 0) {
        MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "alone") == 0) {
        MPI_Recv(&rank, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "wait") == 0) {
        if (rank == 0) {
            MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            result = compute(&count);
        }
    }
    if (strcmp(what, "ahead") == 0 && rank == 1) {
        MPI_Recv(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "mismatch") == 0 && rank == 1) {
        MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "ahead") != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return result * 0;
}
