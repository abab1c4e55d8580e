// covers: MPI_Type_vector MPI_Type_create_struct MPI_Type_dup MPI_Type_commit MPI_Type_free MPI_Type_set_name MPI_Type_create_keyval MPI_Type_set_attr MPI_Type_free_keyval MPI_Comm_create_keyval MPI_Comm_set_attr MPI_Comm_delete_attr MPI_Comm_free_keyval MPI_Group_incl MPI_Group_free MPI_Info_create MPI_Info_free MPI_Op_create MPI_Op_free MPI_Comm_create_errhandler MPI_Comm_set_errhandler MPI_Errhandler_free MPI_Session_init MPI_Session_finalize MPI_Session_attach_buffer MPI_Session_detach_buffer MPI_Add_error_class MPI_Add_error_code MPI_Add_error_string MPI_Remove_error_string MPI_Remove_error_code MPI_Remove_error_class MPI_Send_init MPI_Recv_init MPI_Startall MPI_Request_free MPI_Grequest_start MPI_Grequest_complete MPI_Mprobe MPI_Mrecv MPI_Allreduce_init MPI_Cart_create MPI_Dist_graph_create_adjacent MPI_Pack MPI_Unpack
// ranks: 1
// seconds: 300
/*
 * Every kind of object is made, used and freed again and again (those that take a communicator along a tenth as often): the
 * process takes no more memory than after the first few. The argument is the number of cycles; 100000 for the full run.
 */
#include "check.h"
#include <unistd.h>

static int cycles, warm;

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

static void types(void)
{
    MPI_Datatype v, s, d;
    int two[2] = {1, 2}, from[64] = {1, 2, 3}, to[64] = {0}, at = 0;
    char packed[512];
    MPI_Type_vector(3, 1, 2, MPI_INT, &v);
    MPI_Type_create_struct(2, two, (MPI_Aint[]){0, 64}, (MPI_Datatype[]){v, MPI_SHORT_INT}, &s);
    MPI_Type_dup(s, &d);
    MPI_Type_free(&v), MPI_Type_free(&s); /* the inner types live in the outer one */
    MPI_Type_set_name(d, "a name that wants memory of its own");
    MPI_Type_commit(&d);
    MPI_Pack(from, 1, d, packed, sizeof packed, &at, MPI_COMM_SELF), at = 0;
    MPI_Unpack(packed, sizeof packed, &at, to, 1, d, MPI_COMM_SELF);
    CHECK(to[0] == 1 && to[2] == 3);
    MPI_Type_free(&d);
}

static int deleted;

static int delete_type(MPI_Datatype t, int key, void *value, void *extra)
{
    (void)t, (void)key, (void)value, (void)extra;
    return deleted++, MPI_SUCCESS;
}

static int delete_comm(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    return deleted++, MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Datatype t;
    int key, before = deleted;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &key, NULL);
    MPI_Type_dup(MPI_INT, &t);
    MPI_Type_set_attr(t, key, &key);
    MPI_Type_free_keyval(&key); /* goes with its last attribute */
    MPI_Type_free(&t);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
    CHECK_EQ(deleted, before + 2);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }

static void small(void)
{
    MPI_Group all, none;
    MPI_Info info;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Comm_group(MPI_COMM_SELF, &all);
    MPI_Group_incl(all, 1, (int[]){0}, &none);
    MPI_Group_free(&all), MPI_Group_free(&none);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "a value that wants memory of its own");
    MPI_Info_free(&info);
    MPI_Op_create(add, 1, &op);
    MPI_Op_free(&op);
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void errors(void)
{
    int class = -1, code = -1;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "a text that wants memory of its own");
    MPI_Remove_error_string(code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

static void sessions(void)
{
    MPI_Session s;
    char room[MPI_BSEND_OVERHEAD + 64], *back = NULL;
    int size = -1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Session_attach_buffer(s, room, sizeof room);
    MPI_Session_detach_buffer(s, &back, &size);
    CHECK(back == room && size == (int)sizeof room);
    MPI_Session_finalize(&s);
}

static int done(void *extra, MPI_Status *s)
{
    (void)extra;
    MPI_Status_set_elements(s, MPI_INT, 0);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}

static int gone(void *extra) { return ++*(int *)extra, MPI_SUCCESS; }
static int too_late(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void requests(void)
{
    MPI_Request q[2];
    MPI_Message m;
    int out = 7, in = -1, ended = 0;
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q[0]);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q[1]);
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(in, 7);
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    MPI_Grequest_start(done, gone, too_late, &ended, &q[0]);
    MPI_Grequest_complete(q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    CHECK_EQ(ended, 1);
    MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &q[0]);
    MPI_Mprobe(0, 2, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE);
    MPI_Request_free(&q[0]); /* while its message is not received */
    MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
}

static void communicators(void)
{
    MPI_Comm cart, graph;
    MPI_Request q;
    int one = 1, zero = 0, sum = -1;
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &q);
    MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, 1);
    MPI_Request_free(&q);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &cart);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &zero, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_free(&cart), MPI_Comm_free(&graph);
}

static void repeat(const char *what, void (*once)(void), int times)
{
    long before, after;
    for (int i = 0; i < warm; i++)
        once();
    before = resident_kib();
    for (int i = 0; i < times; i++)
        once();
    after = resident_kib();
    CHECK_MSG(after - before <= 64, "%s: %d cycles took %ld KiB", what, times, after - before);
}

#ifdef SEED_CYCLES_MISTAKE /* a type that nobody frees */
static void types_kept(void)
{
    MPI_Datatype t;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
}
#endif

int main(int argc, char **argv)
{
    start(&argc, &argv, "object_cycles");
    cycles = argc > 1 ? atoi(argv[1]) : 30000;
    warm = cycles < 2000 ? cycles / 2 : 1000;
#ifdef SEED_CYCLES_MISTAKE
    repeat("types", types_kept, cycles);
#endif
    repeat("types", types, cycles);
    repeat("attributes", attributes, cycles);
    repeat("groups, infos, operations, error handlers", small, cycles);
    repeat("error classes and codes", errors, cycles);
    repeat("sessions", sessions, cycles);
    repeat("requests", requests, cycles);
    repeat("communicators with topologies, persistent collectives", communicators, cycles / 10);
    return finish();
}
