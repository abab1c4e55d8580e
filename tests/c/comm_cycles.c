// covers: MPI_Comm_dup MPI_Comm_idup MPI_Comm_split MPI_Comm_split_type MPI_Comm_create MPI_Comm_create_group MPI_Comm_create_from_group MPI_Intercomm_create MPI_Intercomm_merge MPI_Comm_free MPI_Group_free MPI_Session_init MPI_Session_finalize MPI_Errhandler_free MPI_Info_free
// seconds: 300
/*
 * Objects that are made and freed again and again take no more memory than once. The argument is the number of cycles of
 * each constructor; 100000 for the full run. Alone many cycles are cheap, so that a few bytes per cycle show.
 */
#include "check.h"
#include <unistd.h>

static int cycles, warm;
static MPI_Comm half;
static MPI_Group all;
static MPI_Session session;

/* Memory of this process alone: what it shares with other ranks is touched bit by bit as messages go round in it. */
static long resident_kib(void)
{
    long pages = 0, resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld %ld", &pages, &resident, &shared) != 3)
        resident = shared = 0;
    if (f != NULL)
        fclose(f);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static void dup_(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_free(&c);
}

/* A message of each kind is pending when the handle goes. */
static void dup_pending(void)
{
    MPI_Comm c;
    MPI_Request q[3];
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks, in[2] = {-1, -1};
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, c, &q[0]);
    MPI_Issend(&check_rank, 1, MPI_INT, next, 1, c, &q[1]);
    MPI_Comm_free(&c);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(in[0], previous);
}

static void idup(void)
{
    MPI_Comm c;
    MPI_Request q;
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
}

static void split(void)
{
    MPI_Comm c;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &c);
    MPI_Comm_free(&c);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &c);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_free(&c);
}

static void create(void)
{
    MPI_Comm c;
    MPI_Group g;
    MPI_Group_incl(all, 1, (int[]){0}, &g);
    MPI_Comm_create(MPI_COMM_WORLD, g, &c);
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &c);
    MPI_Comm_free(&c);
    MPI_Comm_create_from_group(all, "cycles", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_free(&c);
}

static void joined(void)
{
    MPI_Comm c, d;
    if (check_ranks < 2)
        return;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank ? 0 : 1, 4, &c);
    MPI_Intercomm_merge(c, check_rank > 0, &d);
    MPI_Comm_free(&d);
    MPI_Comm_dup(c, &d);
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
}

static void ignore(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
}

static void local(void)
{
    MPI_Group g;
    MPI_Errhandler e;
    MPI_Info i, j;
    MPI_Session s;
    MPI_Group_union(all, all, &g);
    MPI_Group_free(&g);
    MPI_Comm_create_errhandler(ignore, &e);
    MPI_Errhandler_free(&e);
    MPI_Info_create(&i);
    MPI_Info_set(i, "key", "value");
    MPI_Info_dup(i, &j);
    MPI_Info_free(&i), MPI_Info_free(&j);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://SELF", &g);
    MPI_Group_free(&g);
    MPI_Session_finalize(&s);
}

static void repeat(const char *what, void (*once)(void))
{
    long before, after;
    for (int i = 0; i < warm; i++) /* tables and queues have their size; numbers have gone round */
        once();
    before = resident_kib();
    for (int i = 0; i < cycles; i++)
        once();
    after = resident_kib();
    CHECK_MSG(after - before <= 256, "%s: %d cycles took %ld KiB", what, cycles, after - before);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_cycles");
    cycles = argc > 1 ? atoi(argv[1]) : check_ranks == 1 ? 20000 : 400;
    warm = cycles / 2 < 1000 ? cycles / 2 : 1000;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank > 0, 0, &half);
    repeat("dup", dup_);
    repeat("dup with messages", dup_pending);
    repeat("idup", idup);
    repeat("split", split);
    repeat("create", create);
    repeat("intercommunicators", joined);
    repeat("local objects", local);
    MPI_Comm_free(&half);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    return finish();
}
