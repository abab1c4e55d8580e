// covers: MPI_Allreduce MPI_Reduce_local MPI_Request_free MPI_Barrier_init MPI_Comm_free_keyval MPI_Info_get_nthkey MPI_Alloc_mem MPI_Comm_split_type MPI_Info_create_env MPI_Session_get_info MPI_Cart_map
// args: usual
// args: strict
// args: mpi3
/*
 * What programs that were written with other libraries do: calls beside the letter of the standard that are accepted,
 * parameters that refuse them, and mistakes that every rank finds so that none waits for another.
 */
#include "check.h"
#include <stdint.h>
#include <wchar.h>

static int strict, mpi3;

static void reductions(void)
{
    signed char c[3] = {-1, (signed char)check_rank, 5}, most[3];
    wchar_t w = -7 - check_rank, sum = 0, want = 0;
    char bits = (char)(1 << check_rank), all = 0, packed[4] = "abc", other[4] = "xyz";
    int code;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    code = MPI_Allreduce(c, most, 3, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    if (strict) {
        CHECK_CLASS(code, MPI_ERR_OP);
        CHECK_CLASS(MPI_Allreduce(&w, &sum, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
        CHECK_CLASS(MPI_Allreduce(&bits, &all, 1, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD), MPI_ERR_OP);
        CHECK_CLASS(MPI_Allreduce(&bits, &all, 1, MPI_CHAR, MPI_LAND, MPI_COMM_WORLD), MPI_ERR_OP);
    } else {
        CHECK_EQ(code, MPI_SUCCESS);
        CHECK(most[0] == -1 && most[1] == check_ranks - 1 && most[2] == 5);
        CHECK_EQ(MPI_Allreduce(&w, &sum, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int rank = 0; rank < check_ranks; rank++)
            want += -7 - rank;
        CHECK_EQ(sum, want);
        CHECK_EQ(MPI_Allreduce(&bits, &all, 1, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ((unsigned char)all, (unsigned char)((1 << check_ranks) - 1));
        CHECK_EQ(MPI_Allreduce(&bits, &all, 1, MPI_CHAR, MPI_LAND, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(all, 1);
    }
    CHECK_CLASS(MPI_Reduce_local(packed, other, 3, MPI_PACKED, MPI_BOR), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(packed, other, 3, MPI_PACKED, MPI_SUM), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(packed, other, 3, MPI_BYTE, MPI_BOR), MPI_SUCCESS);
    CHECK_CLASS(MPI_Reduce_local(packed, other, 3, MPI_BYTE, MPI_SUM), MPI_ERR_OP);
}

/* Ranks / 4 places in a dimension, with fewer than four ranks: a grid without a place for anybody. */
static void empty_grid(void)
{
    int dims[2] = {2, 0}, periods[2] = {0, 0}, rank = 0;
    CHECK_EQ(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank), MPI_SUCCESS);
    CHECK_EQ(rank, MPI_UNDEFINED);
    dims[0] = -1;
    CHECK_CLASS(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank), MPI_ERR_DIMS);
}

/* A collective request: under way as long as the others wait for the message, and refused; accepted when it is complete. */
static void freed_collective(MPI_Request q, int persistent)
{
    MPI_Request kept = q;
    int flag = 0;
    if (check_rank > 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (persistent)
        MPI_Start(&q);
    else
        MPI_Ibarrier(MPI_COMM_WORLD, &q);
    if (check_rank == 0 && check_ranks > 1) {
        kept = q;
        CHECK_CLASS(MPI_Request_free(&q), MPI_ERR_REQUEST);
        CHECK(q == kept);
        for (int rank = 1; rank < check_ranks; rank++)
            MPI_Send(NULL, 0, MPI_BYTE, rank, 3, MPI_COMM_WORLD);
    }
    while (!flag)
        MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
    kept = q;
    CHECK_CLASS(MPI_Request_free(&q), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL);
    if (persistent)
        CHECK_CLASS(MPI_Start(&kept), MPI_ERR_REQUEST);
}

static void requests_and_keys(void)
{
    MPI_Request q;
    int key, copy;
    freed_collective(MPI_REQUEST_NULL, 0);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    freed_collective(q, 1);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    copy = key;
    CHECK_EQ(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    key = copy;
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, copy);
    CHECK_CLASS(MPI_Comm_free_keyval(&copy), MPI_ERR_KEYVAL);
}

static void info_and_memory(void)
{
    static const char *const alignments[] = {"1", "64", "128", "4096", "2097152"};
    MPI_Info info;
    char key[MPI_MAX_INFO_KEY];
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "b");
    CHECK_CLASS(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG);
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
        for (int round = 0; round < 4; round++) {
            void *at[4];
            MPI_Info_set(info, "mpi_minimum_memory_alignment", alignments[i]);
            for (int j = 0; j < 4; j++) {
                CHECK_EQ(MPI_Alloc_mem(100, info, &at[j]), MPI_SUCCESS);
                CHECK_EQ((uintptr_t)at[j] % strtoul(alignments[i], NULL, 10), 0);
                memset(at[j], j, 100);
            }
            for (int j = 0; j < 4; j++)
                CHECK_EQ(MPI_Free_mem(at[j]), MPI_SUCCESS);
        }
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Free_mem(NULL), MPI_SUCCESS);
}

static void sets(void)
{
    MPI_Info info;
    MPI_Comm c;
    int n = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c);
    MPI_Comm_size(c, &n);
    CHECK_EQ(n, 1);
    MPI_Comm_free(&c);
    MPI_Info_set(info, "mpi_pset_name", check_rank ? "mpi://world" : "mpi://WORLD");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c);
    MPI_Comm_size(c, &n);
    CHECK_EQ(n, check_ranks);
    MPI_Comm_free(&c);
    MPI_Info_free(&info);
}

static int has(MPI_Info info, const char *key, const char *want)
{
    char text[256] = "";
    int room = sizeof text, flag = 0;
    MPI_Info_get_string(info, key, &room, text, &flag);
    return flag && strcmp(text, want) == 0;
}

static void sessions(void)
{
    MPI_Session s;
    MPI_Info asked, used;
    MPI_Info_create(&asked);
    MPI_Info_set(asked, "mpi_memory_alloc_kinds", "system,mpi:alloc_mem,gpu");
    MPI_Session_init(asked, MPI_ERRORS_RETURN, &s);
    MPI_Session_get_info(s, &used);
    CHECK(has(used, "mpi_memory_alloc_kinds", "mpi,system,mpi:alloc_mem"));
    MPI_Info_free(&used), MPI_Info_free(&asked);
    MPI_Session_finalize(&s);
}

/* Every rank passes wrong buffers, each other ones; no rank may wait. */
static void aliased(void)
{
    int many[64] = {0}, counts[8], places[8];
    MPI_Request q;
    for (int i = 0; i < 8; i++)
        counts[i] = 2, places[i] = 2 * i;
    CHECK_CLASS(MPI_Allgather(many, 2, MPI_INT, many, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(many + 2 * check_rank, 2, MPI_INT, many, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgatherv(many, 2, MPI_INT, many, counts, places, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Iallgather(many, 2, MPI_INT, many, 2, MPI_INT, MPI_COMM_WORLD, &q), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(many, 2, MPI_INT, many, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(many, 2, MPI_INT, many + 2 * check_ranks - 1, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(many, 2, MPI_INT, many + 2 * check_ranks, 2, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Allreduce(many, many, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(many + 40, 2, MPI_INT, many, 2, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
}

static int on_world, on_self;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    on_world += *comm == MPI_COMM_WORLD, on_self += *comm == MPI_COMM_SELF;
}

static void without_communicator(void)
{
    MPI_Errhandler e;
    MPI_Datatype t;
    MPI_Comm_create_errhandler(note, &e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, e);
    MPI_Type_contiguous(-1, MPI_INT, &t);
    CHECK_EQ(on_world, mpi3);
    CHECK_EQ(on_self, !mpi3);
    MPI_Errhandler_free(&e);
}

int main(int argc, char **argv)
{
    MPI_Info before, after;
    int level, n[2];
    char key[MPI_MAX_INFO_KEY], text[2][MPI_MAX_INFO_VAL];
    strict = argc > 1 && strcmp(argv[1], "strict") == 0;
    mpi3 = argc > 1 && strcmp(argv[1], "mpi3") == 0;
    if (strict)
        setenv("OMPI_MCA_mpi_strict_reductions", "1", 1);
    if (mpi3)
        setenv("OMPI_MCA_mpi_compat_mpi3", "true", 1);
    check_name = "accepted";
    MPI_Info_create_env(argc, argv, &before);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    MPI_Info_create_env(argc, argv, &after);
    MPI_Info_get_nkeys(before, &n[0]), MPI_Info_get_nkeys(after, &n[1]);
    CHECK_EQ(n[0], n[1]);
    for (int i = 0; i < n[1]; i++) {
        int flag = 0, room[2] = {MPI_MAX_INFO_VAL, MPI_MAX_INFO_VAL};
        MPI_Info_get_nthkey(after, i, key);
        MPI_Info_get_string(after, key, &room[1], text[1], &flag);
        MPI_Info_get_string(before, key, &room[0], text[0], &flag);
        CHECK_MSG(flag && strcmp(text[0], text[1]) == 0, "%s: `%s` before MPI_Init, `%s` after", key, flag ? text[0] : "", text[1]);
    }
    MPI_Info_free(&before), MPI_Info_free(&after);
    reductions();
    empty_grid();
    requests_and_keys();
    info_and_memory();
    sets();
    aliased();
    without_communicator();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    sessions();
    return finish();
}
