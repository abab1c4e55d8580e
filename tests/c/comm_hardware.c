// covers: MPI_Comm_split_type MPI_Comm_get_info MPI_Comm_get_name MPI_Comm_get_parent MPI_Topo_test MPI_Win_create_errhandler MPI_File_create_errhandler MPI_File_set_errhandler MPI_File_get_errhandler MPI_File_call_errhandler MPI_Errhandler_free
#define _GNU_SOURCE
/*
 * MPI_Comm_split_type by kinds of hardware and by process sets, MPI 5.0 section 7.4.2; and what is said of what is not
 * there: MPI_COMM_NULL's name, a parent, a topology, files.
 */
#include "check.h"
#include <sched.h>

static int calls;

static void remember(MPI_File *f, int *code, ...)
{
    calls += *f == MPI_FILE_NULL && *code == MPI_ERR_AMODE;
}

static void win_handler(MPI_Win *w, int *code, ...)
{
    (void)w, (void)code;
}

static MPI_Comm guided(int type, const char *key, const char *value)
{
    MPI_Comm c = MPI_COMM_SELF;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, type, check_rank, info, &c), MPI_SUCCESS);
    MPI_Info_free(&info);
    return c;
}

static int size_of(MPI_Comm c)
{
    int size = 0;
    if (c != MPI_COMM_NULL) {
        MPI_Comm_size(c, &size);
        MPI_Comm_free(&c);
    }
    return size;
}

static void resource_of(MPI_Comm c, const char *want)
{
    char text[64] = "not there";
    int room = sizeof text, flag = 0;
    MPI_Info info;
    MPI_Comm_get_info(c, &info);
    MPI_Info_get_string(info, "mpi_hw_resource_type", &room, text, &flag);
    CHECK_MSG(flag && strcmp(text, want) == 0, "mpi_hw_resource_type: expected %s, got %s", want, text);
    MPI_Info_free(&info);
}

static void hardware(void)
{
    MPI_Comm c, node;
    cpu_set_t before, one;
    int mine = -1, same = 0, cpus[64], shared, result = -1;
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_HW_GUIDED, "other_key", "linux://machine")), 0);
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "quantum://foam")), 0);
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &shared);
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory")), shared);
    c = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "linux://machine");
    resource_of(c, "linux://machine");
    CHECK_EQ(size_of(c), shared);
    /* Each rank on one processor of those it may use: who has the same one comes together. */
    sched_getaffinity(0, sizeof before, &before);
    for (int cpu = 0, skip = check_rank % CPU_COUNT(&before); mine < 0; cpu++)
        if (CPU_ISSET(cpu, &before) && skip-- == 0)
            mine = cpu;
    CPU_ZERO(&one);
    CPU_SET(mine, &one);
    sched_setaffinity(0, sizeof one, &one);
    /* Processors of other hosts are others, whatever their numbers. */
    MPI_Allgather(&mine, 1, MPI_INT, cpus, 1, MPI_INT, node);
    for (int r = 0; r < shared; r++)
        same += cpus[r] == mine;
    MPI_Comm_free(&node);
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "linux://cpu")), same);
    /* Unguided: some part that is smaller than the whole, or nothing. */
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &c), MPI_SUCCESS);
    if (same < check_ranks) {
        CHECK(c != MPI_COMM_NULL);
        MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
        CHECK_EQ(result, MPI_UNEQUAL);
    }
    if (c != MPI_COMM_NULL) {
        int size = size_of(c);
        CHECK(size >= same && size < check_ranks);
    }
    sched_setaffinity(0, sizeof before, &before);
    /* A processor more than one: on none of them alone. */
    if (CPU_COUNT(&before) > 1)
        CHECK_EQ(size_of(guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "linux://cpu")), 0);
}

static void sets(void)
{
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD")), check_ranks);
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://NOBODY")), 0);
    CHECK_EQ(size_of(guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "unknown", "mpi://WORLD")), 0);
}

static void absent(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1, status = -1;
    MPI_Comm c = MPI_COMM_SELF;
    CHECK_EQ(MPI_Comm_get_name(MPI_COMM_NULL, name, &length), MPI_SUCCESS);
    CHECK_MSG(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13, "got %s", name);
    CHECK_EQ(MPI_Comm_get_parent(&c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    CHECK_EQ(MPI_Topo_test(MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK_EQ(status, MPI_UNDEFINED);
}

static void handlers(void)
{
    MPI_Errhandler e, got, w;
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN); /* the default of files (section 14.7) */
    MPI_File_create_errhandler(remember, &e);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, e), MPI_SUCCESS);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == e);
    MPI_Errhandler_free(&got);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE);
    CHECK_EQ(calls, 1);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    /* A handler is for the kind of object that it was made for. */
    MPI_Win_create_errhandler(win_handler, &w);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, e), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, w), MPI_ERR_ERRHANDLER);
    MPI_Errhandler_free(&e), MPI_Errhandler_free(&w);
    CHECK(e == MPI_ERRHANDLER_NULL && w == MPI_ERRHANDLER_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_hardware");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    hardware();
    sets();
    absent();
    handlers();
    return finish();
}
