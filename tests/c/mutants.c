/*
 * Mistakes on purpose, one per value of MUTANT, put over the library through the profiling names (MPI 5.0 section 15.2).
 * Linked to a program of this folder, each must make it exit non-zero at the number of ranks given: a test that cannot
 * fail is a defect. "mutant N PROGRAM RANKS" lines are the table that a script reads.
 *
 *   mpicc -DMUTANT=3 -o m pt2pt_nonblocking.c mutants.c && ! mpirun -n 2 ./m
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#if MUTANT == 1 /* mutant 1 pt2pt_blocking 2: a large message loses its last byte */
int MPI_Recv(void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s)
{
    MPI_Status mine, *status = s != MPI_STATUS_IGNORE ? s : &mine;
    int code = PMPI_Recv(b, n, t, source, tag, c, status), got = 0;
    PMPI_Get_count(status, MPI_BYTE, &got);
    if (t == MPI_BYTE && got > 65536)
        ((char *)b)[got - 1] ^= 1;
    return code;
}
#elif MUTANT == 2 /* mutant 2 pt2pt_nonblocking 2: a synchronous send does not wait for its receive */
int MPI_Issend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q)
{
    return PMPI_Isend(b, n, t, to, tag, c, q);
}
#elif MUTANT == 3 /* mutant 3 pt2pt_nonblocking 2: Waitany names the wrong request */
int MPI_Waitany(int n, MPI_Request *q, int *index, MPI_Status *s)
{
    int code = PMPI_Waitany(n, q, index, s);
    *index = *index > 0 ? *index - 1 : *index;
    return code;
}
#elif MUTANT == 4 /* mutant 4 pt2pt_probe 2: a probe reports one byte too many */
int MPI_Get_count(const MPI_Status *s, MPI_Datatype t, int *n)
{
    int code = PMPI_Get_count(s, t, n);
    *n += *n > 50000;
    return code;
}
#elif MUTANT == 5 /* mutant 5 pt2pt_probe 1: a matched message can still be received by others */
int MPI_Mprobe(int source, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s)
{
    char b[8];
    PMPI_Recv(b, 4, MPI_BYTE, source, tag, c, MPI_STATUS_IGNORE);
    PMPI_Isend(b, 4, MPI_BYTE, 0, 40, c, &(MPI_Request){MPI_REQUEST_NULL});
    return PMPI_Mprobe(source, tag, c, m, s);
}
#elif MUTANT == 6 /* mutant 6 pt2pt_fairness 3: two messages of one sender change places */
int MPI_Recv(void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s)
{
    static int calls;
    static char kept[64];
    int code = PMPI_Recv(b, n, t, source, tag, c, s);
    if (++calls == 11)
        memcpy(kept, b, 12);
    if (calls == 12)
        memcpy(b, kept, 12);
    return code;
}
#elif MUTANT == 7 /* mutant 7 coll_blocking_1 3: a barrier that does nothing */
int MPI_Barrier(MPI_Comm c)
{
    (void)c;
    return MPI_SUCCESS;
}
#elif MUTANT == 8 /* mutant 8 coll_blocking_1 4: broadcast always from rank 0 */
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    (void)root;
    return PMPI_Bcast(b, n, t, 0, c);
}
#elif MUTANT == 9 /* mutant 9 coll_blocking_1 3: Allgatherv forgets displacements */
int MPI_Allgatherv(const void *a, int n, MPI_Datatype t, void *b, const int *counts, const int *displs, MPI_Datatype u, MPI_Comm c)
{
    int size, *packed, code;
    (void)displs;
    PMPI_Comm_size(c, &size);
    packed = malloc((size_t)size * sizeof(int));
    for (int r = 0, at = 0; r < size; at += counts[r++])
        packed[r] = at;
    code = PMPI_Allgatherv(a, n, t, b, counts, packed, u, c);
    free(packed);
    return code;
}
#elif MUTANT == 10 /* mutant 10 coll_blocking_2 3: a non-commutative operation declared commutative, ranks in reverse */
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    int rank, code;
    MPI_Comm other;
    PMPI_Comm_rank(c, &rank);
    PMPI_Comm_split(c, 0, -rank, &other);
    code = PMPI_Allreduce(a, b, n, t, op, other);
    PMPI_Comm_free(&other);
    return code;
}
#elif MUTANT == 11 /* mutant 11 coll_blocking_2 2: Exscan that includes its own rank */
int MPI_Exscan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    return PMPI_Scan(a, b, n, t, op, c);
}
#elif MUTANT == 12 /* mutant 12 coll_blocking_3 1: the last elements of an odd length are left out */
int MPI_Reduce_local(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op)
{
    return PMPI_Reduce_local(a, b, n - n % 4, t, op);
}
#elif MUTANT == 13 /* mutant 13 coll_blocking_3 3: MAXLOC is MINLOC */
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    return PMPI_Allreduce(a, b, n, t, op == MPI_MAXLOC ? MPI_MINLOC : op, c);
}
#elif MUTANT == 14 /* mutant 14 comm_basic 3: split ignores keys */
int MPI_Comm_split(MPI_Comm c, int color, int key, MPI_Comm *out)
{
    (void)key;
    return PMPI_Comm_split(c, color, 0, out);
}
#elif MUTANT == 15 /* mutant 15 comm_basic 2: a duplicate shares the context of its parent */
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q)
{
    (void)c;
    return PMPI_Isend(b, n, t, to, tag, MPI_COMM_WORLD, q);
}
int MPI_Recv(void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s)
{
    (void)c;
    return PMPI_Recv(b, n, t, source, tag, MPI_COMM_WORLD, s);
}
int MPI_Irecv(void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *q)
{
    (void)c;
    return PMPI_Irecv(b, n, t, source, tag, MPI_COMM_WORLD, q);
}
#elif MUTANT == 16 /* mutant 16 datatype_basic 1: a long stride is one too short */
int MPI_Type_vector(int n, int block, int stride, MPI_Datatype t, MPI_Datatype *out)
{
    return PMPI_Type_vector(n, block, stride - (stride > 2), t, out);
}
#elif MUTANT == 17 /* mutant 17 env_basic 1: a clock that stands still */
double MPI_Wtime(void)
{
    return 1.0;
}
#elif MUTANT == 18 /* mutant 18 errors_basic 1: every code is of class MPI_ERR_OTHER */
int MPI_Error_class(int code, int *class)
{
    *class = code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_OTHER;
    return MPI_SUCCESS;
}
#elif MUTANT == 19 /* mutant 19 many_ranks 8: one block of an all-to-all is stale */
int MPI_Alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
    int keep = *(int *)b, code = PMPI_Alltoall(a, n, t, b, m, u, c);
    *(int *)b = keep;
    return code;
}
#elif MUTANT == 20 /* mutant 20 heat 2: the field arrives one element late */
int MPI_Gatherv(const void *a, int n, MPI_Datatype t, void *b, const int *counts, const int *displs, MPI_Datatype u, int root, MPI_Comm c)
{
    int code = PMPI_Gatherv(a, n, t, b, counts, displs, u, root, c), rank;
    PMPI_Comm_rank(c, &rank);
    if (rank == root)
        memmove((double *)b + 1, b, (size_t)(counts[0] - 1) * sizeof(double));
    return code;
}
#elif MUTANT == 21 /* mutant 21 attr 1: a duplicate shares the attribute with its parent, no callback asked */
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *del, int *key, void *state)
{
    return PMPI_Comm_create_keyval(copy == MPI_COMM_NULL_COPY_FN ? copy : MPI_COMM_DUP_FN, del, key, state);
}
#elif MUTANT == 22 /* mutant 22 attr 1: the attributes of MPI_COMM_SELF are deleted in the order in which they were set */
static void *held[3];
static int holds, keys[3];
int MPI_Comm_set_attr(MPI_Comm c, int key, void *value)
{
    if (c == MPI_COMM_SELF && holds < 3) {
        keys[holds] = key, held[holds++] = value;
        if (holds == 3)
            for (int i = 2; i >= 0; i--)
                PMPI_Comm_set_attr(c, keys[i], held[i]);
        return MPI_SUCCESS;
    }
    return PMPI_Comm_set_attr(c, key, value);
}
#elif MUTANT == 23 /* mutant 23 pt2pt_buffered 2: a buffered send leaves the message where it is */
int MPI_Bsend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    return PMPI_Isend(b, n, t, to, tag, c, &(MPI_Request){MPI_REQUEST_NULL});
}
#elif MUTANT == 24 /* mutant 24 grequest 1: the query function is not called for a status that is ignored */
int MPI_Wait(MPI_Request *q, MPI_Status *s)
{
    return s == MPI_STATUS_IGNORE ? PMPI_Request_free(q) : PMPI_Wait(q, s);
}
#elif MUTANT == 25 /* mutant 25 pt2pt_persistent 1: a request sends for ever what the buffer held at its first start */
int MPI_Send_init(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q)
{
    int size;
    PMPI_Type_size(t, &size);
    char *copy = calloc((size_t)n + 1, (size_t)size);
    memcpy(copy, b, (size_t)n * (size_t)(t == MPI_BYTE));
    return PMPI_Send_init(copy, n, t, to, tag, c, q);
}
#elif MUTANT == 26 /* mutant 26 pt2pt_large_counts 1: an exchange in place forgets to save what it sends */
int MPI_Isendrecv_replace_c(void *b, MPI_Count n, MPI_Datatype t, int to, int sendtag, int from, int recvtag, MPI_Comm c, MPI_Request *q)
{
    if (t == MPI_BYTE && n > 0)
        memset(b, 0, (size_t)n);
    return PMPI_Isendrecv_replace_c(b, n, t, to, sendtag, from, recvtag, c, q);
}
#elif MUTANT == 27 /* mutant 27 request_status 1: looking at all requests completes them */
int MPI_Request_get_status_all(int n, const MPI_Request *q, int *flag, MPI_Status *s)
{
    return PMPI_Testall(n, (MPI_Request *)q, flag, s);
}
#elif MUTANT == 28 /* mutant 28 info 1: a copy is the same object */
int MPI_Info_dup(MPI_Info info, MPI_Info *copy)
{
    *copy = info;
    return MPI_SUCCESS;
}
#elif MUTANT == 29 /* mutant 29 group 3: a union sorts its members */
int MPI_Group_union(MPI_Group a, MPI_Group b, MPI_Group *out)
{
    MPI_Group all, none, rest;
    PMPI_Group_union(a, b, &none);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_difference(all, none, &rest);
    return PMPI_Group_difference(all, rest, out);
}
#elif MUTANT == 30 /* mutant 30 comm_more 3: a communicator for a group has the order of its parent */
int MPI_Comm_create(MPI_Comm c, MPI_Group g, MPI_Comm *out)
{
    int rank;
    PMPI_Group_rank(g, &rank);
    return PMPI_Comm_split(c, rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, 0, out);
}
#elif MUTANT == 31 /* mutant 31 handle_int 1: a request becomes another one on the way */
int MPI_Request_toint(MPI_Request q)
{
    return PMPI_Request_toint(q) & 0xffff;
}
MPI_Request MPI_Request_fromint(int number)
{
    return number == PMPI_Request_toint(MPI_REQUEST_NULL) ? MPI_REQUEST_NULL : PMPI_Request_fromint(number ^ 1);
}
#elif MUTANT == 32 /* mutant 32 errhandler 1: a code of the program's has no text of its own */
int MPI_Add_error_string(int code, const char *text)
{
    (void)text;
    return PMPI_Add_error_string(code, "an error");
}
#elif MUTANT == 33 /* mutant 33 env_more 2: an operation that does not commute is taken for one that does */
int MPI_Op_create_c(MPI_User_function_c *f, int commute, MPI_Op *op)
{
    (void)commute;
    return PMPI_Op_create_c(f, 1, op);
}
#elif MUTANT == 34 /* mutant 34 datatype_constructors 1: displacements in bytes are taken for ones in elements */
int MPI_Type_create_hindexed(int n, const int *lengths, const MPI_Aint *places, MPI_Datatype t, MPI_Datatype *out)
{
    MPI_Aint wrong[8];
    for (int i = 0; i < n && i < 8; i++)
        wrong[i] = places[i] - places[i] % 8;
    return PMPI_Type_create_hindexed(n, lengths, wrong, t, out);
}
#elif MUTANT == 35 /* mutant 35 datatype_query 1: only whole elements are counted */
int MPI_Get_elements_c(const MPI_Status *s, MPI_Datatype t, MPI_Count *n)
{
    return PMPI_Get_count_c(s, t, n);
}
#elif MUTANT == 36 /* mutant 36 coll_large_counts 2: displacements are multiplied twice */
int MPI_Alltoallw_c(const void *a, const MPI_Count *n, const MPI_Aint *at, const MPI_Datatype *t, void *b, const MPI_Count *m,
                    const MPI_Aint *to, const MPI_Datatype *u, MPI_Comm c)
{
    int size;
    PMPI_Comm_size(c, &size);
    MPI_Aint wrong[64];
    for (int r = 0; r < size && r < 64; r++)
        wrong[r] = at[r] / 2;
    return PMPI_Alltoallw_c(a, n, wrong, t, b, m, to, u, c);
}
#elif MUTANT == 60 /* mutant 60 coll_nonblocking_4 3: a barrier that waits for nobody */
int MPI_Ibarrier(MPI_Comm c, MPI_Request *q)
{
    (void)c;
    return PMPI_Ibarrier(MPI_COMM_SELF, q);
}
#elif MUTANT == 61 /* mutant 61 coll_nonblocking_1 4: broadcast always from rank 0 */
int MPI_Ibcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *q)
{
    (void)root;
    return PMPI_Ibcast(b, n, t, 0, c, q);
}
#elif MUTANT == 62 /* mutant 62 coll_nonblocking_2 3: a scan that leaves out the rank itself */
int MPI_Iscan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q)
{
    return PMPI_Iexscan(a, b, n, t, op, c, q);
}
#elif MUTANT == 63 /* mutant 63 accepted 2: an active collective can be freed */
int MPI_Request_free(MPI_Request *q)
{
    (void)q;
    return MPI_SUCCESS;
}
#elif MUTANT == 64 /* mutant 64 coll_nonblocking_3 2: Igatherv forgets displacements */
int MPI_Igatherv_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, const MPI_Count *m, const MPI_Aint *to, MPI_Datatype u,
                   int root, MPI_Comm c, MPI_Request *q)
{
    static MPI_Aint packed[64];
    int size;
    (void)to;
    PMPI_Comm_size(c, &size);
    for (int r = 0, at = 0; r < size && r < 64; at += (int)m[r++])
        packed[r] = at;
    return PMPI_Igatherv_c(a, n, t, b, m, packed, u, root, c, q);
}
#elif MUTANT == 65 /* mutant 65 coll_persistent_1 3: broadcast always from rank 0 */
int MPI_Bcast_init(void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    (void)root;
    return PMPI_Bcast_init(b, n, t, 0, c, info, q);
}
#elif MUTANT == 66 /* mutant 66 coll_persistent_2 3: the result of Allreduce reaches rank 0 only */
int MPI_Allreduce_init(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    int rank;
    PMPI_Comm_rank(c, &rank);
    return PMPI_Reduce_init(a == MPI_IN_PLACE && rank > 0 ? b : a, b, n, t, op, 0, c, info, q);
}
#elif MUTANT == 67 /* mutant 67 coll_persistent_4 2: what was started keeps the contents of the first start */
int MPI_Bcast_init(void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    int size, rank;
    void *copy;
    PMPI_Type_size(t, &size);
    PMPI_Comm_rank(c, &rank);
    copy = calloc((size_t)n, (size_t)size);
    return PMPI_Bcast_init(rank == root ? copy : b, n, t, root, c, info, q);
}
#elif MUTANT == 68 /* mutant 68 coll_persistent_3 2: Exscan does what Scan does */
int MPI_Exscan_init_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    return PMPI_Scan_init_c(a, b, n, t, op, c, info, q);
}
#elif MUTANT == 69 /* mutant 69 coll_nonblocking_4 3: a reduction applies another operation */
int MPI_Ireduce_scatter_block(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *q)
{
    (void)op;
    return PMPI_Ireduce_scatter_block(a, b, n, t, MPI_MAX, c, q);
}
#elif MUTANT == 80 /* mutant 80 comm_inter 4: a merge forgets who is high */
int MPI_Intercomm_merge(MPI_Comm c, int high, MPI_Comm *out)
{
    int code = PMPI_Intercomm_merge(c, !high, out);
    return code;
}
#elif MUTANT == 81 /* mutant 81 comm_inter 4: ranks of an intercommunicator's receives are those of the own group */
int MPI_Recv(void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s)
{
    int code = PMPI_Recv(b, n, t, source, tag, c, s), inter = 0, size = 0;
    PMPI_Comm_test_inter(c, &inter);
    PMPI_Comm_remote_size(inter ? c : MPI_COMM_WORLD, &size);
    if (inter && s != MPI_STATUS_IGNORE && size > 1)
        s->MPI_SOURCE = (s->MPI_SOURCE + 1) % size;
    return code;
}
#elif MUTANT == 82 /* mutant 82 comm_idup 3: a duplicate takes over the hints of its parent */
int MPI_Comm_dup(MPI_Comm c, MPI_Comm *out)
{
    MPI_Info info;
    PMPI_Comm_get_info(c, &info);
    int code = PMPI_Comm_dup_with_info(c, info, out);
    PMPI_Info_free(&info);
    return code;
}
#elif MUTANT == 83 /* mutant 83 comm_idup 2: hints of a nonblocking duplicate are lost */
int MPI_Comm_idup_with_info(MPI_Comm c, MPI_Info info, MPI_Comm *out, MPI_Request *q)
{
    (void)info;
    return PMPI_Comm_idup(c, out, q);
}
#elif MUTANT == 84 /* mutant 84 session 2: every process set is the world */
int MPI_Group_from_session_pset(MPI_Session s, const char *name, MPI_Group *g)
{
    (void)name;
    return PMPI_Group_from_session_pset(s, "mpi://WORLD", g);
}
#elif MUTANT == 85 /* mutant 85 session 1: a session's buffer is nobody's */
int MPI_Session_attach_buffer(MPI_Session s, void *b, int n)
{
    static int calls;
    return calls++ == 0 ? MPI_SUCCESS : PMPI_Session_attach_buffer(s, b, n);
}
#elif MUTANT == 86 /* mutant 86 comm_hardware 2: any kind of hardware is the whole machine */
int MPI_Comm_split_type(MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *out)
{
    (void)type, (void)info;
    return PMPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, out);
}
#elif MUTANT == 87 /* mutant 87 comm_cycles 1: freed handles leave their communicators behind */
int MPI_Comm_free(MPI_Comm *c)
{
    *c = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
#elif MUTANT == 88 /* mutant 88 datatype_external 1: the portable representation is this machine's */
int MPI_Pack_external(const char *rep, const void *b, int n, MPI_Datatype t, void *out, MPI_Aint size, MPI_Aint *at)
{
    int here = (int)*at, code;
    (void)rep;
    code = PMPI_Pack(b, n, t, out, (int)size, &here, MPI_COMM_SELF);
    *at = here;
    return code;
}
#elif MUTANT == 89 /* mutant 89 datatype_external 1: unpacking forgets the sign of a long */
int MPI_Unpack_external(const char *rep, const void *in, MPI_Aint size, MPI_Aint *at, void *b, int n, MPI_Datatype t)
{
    int code = PMPI_Unpack_external(rep, in, size, at, b, n, t);
    if (t == MPI_LONG && n == 1)
        *(long *)b &= 0xffffffff;
    return code;
}
#elif MUTANT == 90 /* mutant 90 datatype_external 1: any representation is external32 */
int MPI_Pack_external_size(const char *rep, int n, MPI_Datatype t, MPI_Aint *size)
{
    (void)rep;
    return PMPI_Pack_external_size("external32", n, t, size);
}
#elif MUTANT == 91 /* mutant 91 datatype_offset 2: a matched message of one run goes to where the buffer begins */
int MPI_Mrecv(void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s)
{
    int size = 0;
    PMPI_Type_size(t, &size);
    return PMPI_Mrecv(b, n * size, MPI_BYTE, m, s);
}
#elif MUTANT == 92 /* mutant 92 datatype_offset 2: a gather sends from where the buffer begins */
int MPI_Allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
    int size = 0;
    PMPI_Type_size(t, &size);
    return a == MPI_IN_PLACE ? PMPI_Allgather(a, n, t, b, m, u, c) : PMPI_Allgather(a, n * size, MPI_BYTE, b, m, u, c);
}
#elif MUTANT == 130 /* mutant 130 topo_cart 3: a shift in the other direction */
int MPI_Cart_shift(MPI_Comm c, int dim, int steps, int *from, int *to)
{
    return PMPI_Cart_shift(c, dim, steps, to, from);
}
#elif MUTANT == 131 /* mutant 131 topo_cart 4: a part of a grid whose ranks run backwards */
int MPI_Cart_sub(MPI_Comm c, const int *keep, MPI_Comm *part)
{
    int n, rank, dims[4], wraps[4], at[4], code = PMPI_Cart_sub(c, keep, part);
    MPI_Comm turned, again;
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Cartdim_get(*part, &n);
    PMPI_Cart_get(*part, n, dims, wraps, at);
    PMPI_Comm_rank(*part, &rank);
    PMPI_Comm_split(*part, 0, -rank, &turned);
    PMPI_Cart_create(turned, n, dims, wraps, 0, &again);
    PMPI_Comm_free(&turned), PMPI_Comm_free(part);
    *part = again;
    return code;
}
#elif MUTANT == 132 /* mutant 132 topo_cart 1: dimensions in the wrong order */
int MPI_Dims_create(int nodes, int n, int *dims)
{
    int code = PMPI_Dims_create(nodes, n, dims);
    if (n == 2 && dims[0] > 1) {
        int first = dims[0];
        dims[0] = dims[1], dims[1] = first;
    }
    return code;
}
#elif MUTANT == 133 /* mutant 133 topo_cart 2: a duplicate without the topology */
int MPI_Comm_dup(MPI_Comm c, MPI_Comm *copy)
{
    int rank;
    PMPI_Comm_rank(c, &rank);
    return PMPI_Comm_split(c, 0, rank, copy);
}
#elif MUTANT == 134 /* mutant 134 topo_graph 3: several edges to the same node count once */
int MPI_Graph_neighbors_count(MPI_Comm c, int rank, int *n)
{
    int all[256], kept = 0, code = PMPI_Graph_neighbors_count(c, rank, n);
    if (code != MPI_SUCCESS)
        return code;
    PMPI_Graph_neighbors(c, rank, *n, all);
    for (int i = 0, k; i < *n; i++) {
        for (k = 0; k < i && all[k] != all[i]; k++)
            ;
        kept += k == i;
    }
    *n = kept;
    return code;
}
#elif MUTANT == 135 /* mutant 135 topo_dist_graph 3: who is named by others does not learn the weights */
int MPI_Dist_graph_neighbors(MPI_Comm c, int in, int *from, int *fw, int out, int *to, int *tw)
{
    int code = PMPI_Dist_graph_neighbors(c, in, from, fw, out, to, tw);
    for (int i = 0; code == MPI_SUCCESS && fw != MPI_UNWEIGHTED && fw && i < in && i < 4; i++)
        fw[i] = 1;
    return code;
}
#elif MUTANT == 136 /* mutant 136 neighbor_1 2: on a ring of two both neighbours' blocks change places */
int MPI_Neighbor_alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
    int kind, dims = 0, code = PMPI_Neighbor_alltoall(a, n, t, b, m, u, c);
    PMPI_Topo_test(c, &kind);
    if (kind == MPI_CART)
        PMPI_Cartdim_get(c, &dims);
    if (dims == 1 && n == 1 && t == MPI_INT && code == MPI_SUCCESS) {
        int first = ((int *)b)[0];
        ((int *)b)[0] = ((int *)b)[1], ((int *)b)[1] = first;
    }
    return code;
}
#elif MUTANT == 137 /* mutant 137 neighbor_2 2: a source's displacement counts bytes */
int MPI_Ineighbor_allgatherv_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, const MPI_Count *counts, const MPI_Aint *displs,
                               MPI_Datatype u, MPI_Comm c, MPI_Request *q)
{
    static MPI_Aint shorter[64];
    int kind, in = 0, out, weighted, dims;
    PMPI_Topo_test(c, &kind);
    if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
    if (kind == MPI_CART)
        PMPI_Cartdim_get(c, &dims), in = 2 * dims;
    if (in == 0)
        return PMPI_Ineighbor_allgatherv_c(a, n, t, b, counts, displs, u, c, q);
    for (int k = 0; k < in; k++)
        shorter[k] = displs[k] / 4;
    return PMPI_Ineighbor_allgatherv_c(a, n, t, b, counts, shorter, u, c, q);
}
#elif MUTANT == 138 /* mutant 138 neighbor_3 2: what is started sends what was there when it was made */
int MPI_Neighbor_alltoall_init(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c, MPI_Info info,
                               MPI_Request *q)
{
    return PMPI_Neighbor_alltoall_init(n == 1 ? calloc(64, sizeof(int)) : a, n, t, b, m, u, c, info, q);
}
#elif MUTANT == 139 /* mutant 139 coll_differential_inter 3: between groups the first two blocks change places */
int MPI_Gather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
    int code = PMPI_Gather(a, n, t, b, m, u, root, c), size, block;
    PMPI_Comm_remote_size(c, &size);
    PMPI_Type_size(u, &block);
    block *= m;
    for (int i = 0; root == MPI_ROOT && size > 1 && i < block; i++) {
        char kept = ((char *)b)[i];
        ((char *)b)[i] = ((char *)b)[block + i];
        ((char *)b)[block + i] = kept;
    }
    return code;
}
#elif MUTANT == 140 /* mutant 140 coll_differential_inter 2: a reduction between groups gives the own group's result */
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    MPI_Comm own;
    int inter, code;
    PMPI_Comm_test_inter(c, &inter);
    if (!inter)
        return PMPI_Allreduce(a, b, n, t, op, c);
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &own);
    code = PMPI_Allreduce(a, b, n, t, op, own);
    PMPI_Comm_free(&own);
    return code;
}
#elif MUTANT == 141 /* mutant 141 coll_differential_inter 4: a broadcast to the other group is written beside the root, too */
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    if (root == MPI_PROC_NULL && n > 0)
        *(char *)b = 1;
    return PMPI_Bcast(b, n, t, root, c);
}
#elif MUTANT == 142 /* mutant 142 coll_differential_nonblocking 3: a nonblocking broadcast is always from rank 0 */
int MPI_Ibcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *q)
{
    (void)root;
    return PMPI_Ibcast(b, n, t, 0, c, q);
}
#elif MUTANT == 143 /* mutant 143 coll_differential_inter_persistent 4: a persistent maximum is a minimum */
int MPI_Allreduce_init(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    return PMPI_Allreduce_init(a, b, n, t, op == MPI_MAX ? MPI_MIN : op, c, info, q);
}
#elif MUTANT == 144 /* mutant 144 partitioned 3: every partition has arrived, whenever one asks */
int MPI_Parrived(MPI_Request q, int partition, int *flag)
{
    int code = PMPI_Parrived(q, partition, flag);
    *flag = 1;
    return code;
}
#elif MUTANT == 145 /* mutant 145 partitioned 2: nobody is told of a partition that is marked twice */
int MPI_Pready(int partition, MPI_Request q)
{
    PMPI_Pready(partition, q);
    return MPI_SUCCESS;
}
#elif MUTANT == 146 /* mutant 146 partitioned 2: partitioned requests match whatever their tags are */
int MPI_Psend_init(const void *b, int parts, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    return PMPI_Psend_init(b, parts, n, t, to, tag == 1 ? 0 : tag, c, info, q);
}
int MPI_Precv_init(void *b, int parts, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Info info, MPI_Request *q)
{
    return PMPI_Precv_init(b, parts, n, t, from, tag == 1 ? 0 : tag, c, info, q);
}
#else
#error "MUTANT is a number of the list above"
#endif
