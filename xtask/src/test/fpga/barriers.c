/* Barriers whose effect is checked without MPI: every rank counts in a page that all share before it enters a barrier,
   and afterwards looks whether any member of the communicator had not come yet. Arguments: the file of the page, how
   many barriers; "world", "several" communicators, or "death" of rank 1 instead of its last barrier. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COMMS = 5, RANKS = 64 };
static volatile long *entered; /* [comm][rank of MPI_COMM_WORLD] */
static int rank, size;
static long done;

static void fail(const char *what, long a, long b) {
    fprintf(stderr, "rank %d: %s (%ld, %ld)\n", rank, what, a, b);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void barrier(MPI_Comm comm, int which, const int *members, int count) {
    long mine = entered[which * RANKS + rank] + 1;
    __atomic_store_n(&entered[which * RANKS + rank], mine, __ATOMIC_RELEASE);
    if (MPI_Barrier(comm) != MPI_SUCCESS) fail("MPI_Barrier", which, mine);
    for (int i = 0; i < count; i++) {
        long other = __atomic_load_n(&entered[which * RANKS + members[i]], __ATOMIC_ACQUIRE);
        if (other < mine) fail("left a barrier before a member had come", members[i], mine);
        if (other > mine + 1) fail("a member is two barriers ahead", members[i], other);
    }
    done++;
}

/* Called for a barrier that cannot end, with what the library says of it. */
static void handler(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    (void)comm;
    MPI_Error_class(*code, &class);
    MPI_Error_string(*code, text, &length);
    fprintf(stderr, "rank %d: handler, %s: %s\n", rank, class == MPI_ERR_PROC_ABORTED ? "aborted" : "other", text);
    _exit(0);
}

static void die_after(long barriers, int victim, const int *world, int count) {
    MPI_Errhandler errors;
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    while (done < barriers) barrier(MPI_COMM_WORLD, 0, world, count);
    if (rank == victim) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    fail("a barrier ended without a rank that is dead", done, victim);
}

static int members_of(MPI_Comm comm, int *members) {
    MPI_Group world, group;
    int count, ranks[RANKS];
    MPI_Comm_size(comm, &count);
    for (int i = 0; i < count; i++) ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(group, count, ranks, world, members);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    return count;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, COMMS * RANKS * sizeof(long)) != 0) fail("the shared page", 0, 0);
    entered = mmap(NULL, COMMS * RANKS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (entered == MAP_FAILED) fail("mmap", 0, 0);
    long wanted = atol(argv[2]);
    int several = strcmp(argv[3], "several") == 0;
    int world[RANKS], count = members_of(MPI_COMM_WORLD, world);

    if (strncmp(argv[3], "death", 5) == 0) {
        signal(SIGTERM, SIG_IGN); /* what mpirun sends to the survivors, who shall come to their handlers first */
        die_after(wanted, atoi(argv[3] + 5), world, count);
    }
    double begin = MPI_Wtime();
    while (done < wanted) {
        long until = several ? done + (wanted + 3) / 4 : wanted;
        MPI_Comm comms[COMMS] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
        int counts[COMMS] = {count}, members[COMMS][RANKS];
        memcpy(members[0], world, sizeof world);
        if (several) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
            MPI_Comm_split(MPI_COMM_WORLD, rank < (size + 1) / 2, 0, &comms[3]);
            MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &comms[4]);
            for (int i = 1; i < COMMS; i++)
                counts[i] = comms[i] == MPI_COMM_NULL ? 0 : members_of(comms[i], members[i]);
            /* Nobody has a number of the round before any more. */
            if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) fail("MPI_Barrier", 0, 0);
        }
        /* Everybody the same number of rounds, whatever it is a member of. */
        long rounds = several ? (until - done) / 5 + 1 : wanted;
        MPI_Bcast(&rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        for (long i = 0; i < rounds; i++) {
            if (i == rounds / 2 && rank == 1 && strcmp(argv[3], "nap") == 0) sleep(1);
            for (int which = 0; which < COMMS; which++)
                if (counts[which] > 0) barrier(comms[which], which, members[which], counts[which]);
        }
        for (int i = 1; i < COMMS; i++)
            if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
        long least = done;
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
        done = least;
    }
    if (rank == 0) printf("%ld barriers in %.6f s\n", done, MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
