// covers: MPI_Init_thread MPI_Initialized MPI_Finalized MPI_Query_thread MPI_Is_thread_main MPI_Wtime MPI_Wtick MPI_Get_processor_name MPI_Get_version MPI_Get_library_version MPI_Error_class MPI_Error_string MPI_Finalize MPI_Abi_get_version
/*
 * The environment: MPI 5.0 sections 9.1 (versions, processor name), 9.4 and 9.5 (errors), 9.6 (timers), 11.2 (starting and
 * ending), 11.6 (threads), 20 (the ABI). Some calls must work before MPI_Init and after MPI_Finalize.
 */
#include "check.h"

/* Allowed at any time, so called at both ends. */
static void any_time(int initialized, int finalized)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int flag = -1, version = -1, subversion = -1, length = -1;
    MPI_Initialized(&flag);
    CHECK_EQ(flag != 0, initialized);
    MPI_Finalized(&flag);
    CHECK_EQ(flag != 0, finalized);
    MPI_Get_version(&version, &subversion);
    CHECK_EQ(version, MPI_VERSION);
    CHECK_EQ(subversion, MPI_SUBVERSION);
    memset(text, '\0', sizeof text); /* strlen must not run off if nothing was stored */
    MPI_Get_library_version(text, &length);
    if (!library_is("Open MPI")) /* 4.1 counts the terminating zero */
        CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING && strlen(text) == (size_t)length);
#ifdef MPI_ABI_VERSION
    version = subversion = -1;
    MPI_Abi_get_version(&version, &subversion);
    CHECK_EQ(version, MPI_ABI_VERSION);
    CHECK_EQ(subversion, MPI_ABI_SUBVERSION);
#endif
}

static void threads(int required, int provided)
{
    int level = -1, flag = 0;
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
    CHECK(MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    CHECK_MSG(provided >= required, "MPI_THREAD_FUNNELED costs nothing: expected at least %d, got %d", required, provided);
    MPI_Query_thread(&level);
    CHECK_EQ(level, provided);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
}

/* A clock that never goes back, ticks finer than a millisecond, and counts seconds. */
static void timers(void)
{
    double first = MPI_Wtime(), last = first, tick = MPI_Wtick();
    int steps = 0;
    CHECK(tick > 0.0 && tick < 1e-3);
    for (long i = 0; i < 100000000 && last - first < 0.02; i++) {
        double now = MPI_Wtime();
        CHECK_MSG(now >= last, "MPI_Wtime went back from %.9f to %.9f", last, now);
        steps += now > last;
        last = now;
    }
    CHECK_MSG(last - first >= 0.02, "MPI_Wtime moved by %g s in 10^8 calls", last - first);
    CHECK_MSG(steps > 20, "MPI_Wtime changed only %d times in 20 ms", steps);
}

static void processor(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    memset(name, '\0', sizeof name);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && strlen(name) == (size_t)length);
}

/* Each class is an error code whose class is itself, and has a text. */
static void errors(void)
{
    static const int classes[] = {MPI_SUCCESS,      MPI_ERR_BUFFER,   MPI_ERR_COUNT,   MPI_ERR_TYPE,    MPI_ERR_TAG,
                                  MPI_ERR_COMM,     MPI_ERR_RANK,     MPI_ERR_ROOT,    MPI_ERR_GROUP,   MPI_ERR_OP,
                                  MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,     MPI_ERR_ARG,     MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
                                  MPI_ERR_OTHER,    MPI_ERR_INTERN,   MPI_ERR_PENDING, MPI_ERR_REQUEST, MPI_ERR_IN_STATUS,
                                  MPI_ERR_ACCESS,   MPI_ERR_FILE,     MPI_ERR_INFO,    MPI_ERR_KEYVAL,  MPI_ERR_NO_MEM,
                                  MPI_ERR_WIN,      MPI_ERR_RMA_SYNC, MPI_ERR_SPAWN,   MPI_ERR_IO,      MPI_ERR_LASTCODE};
    char truncate[MPI_MAX_ERROR_STRING];
    int length = -1;
    CHECK_EQ(MPI_SUCCESS, 0);
    MPI_Error_string(MPI_ERR_TRUNCATE, truncate, &length);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0] - 1; i++) {
        char text[MPI_MAX_ERROR_STRING];
        int class = -1;
        memset(text, '\0', sizeof text);
        MPI_Error_class(classes[i], &class);
        CHECK_EQ(class, classes[i]);
        CHECK(classes[i] <= MPI_ERR_LASTCODE);
        MPI_Error_string(classes[i], text, &length);
        CHECK_MSG(length > 0 && length < MPI_MAX_ERROR_STRING && strlen(text) == (size_t)length, "class %d: text of length %d",
                  classes[i], length);
        CHECK_MSG((strcmp(text, truncate) == 0) == (classes[i] == MPI_ERR_TRUNCATE), "class %d has the text of MPI_ERR_TRUNCATE",
                  classes[i]);
    }
}

int main(int argc, char **argv)
{
    int provided = -1, length = argc;
    check_name = "env_basic";
    any_time(0, 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK(argc >= 1 && argc <= length && argv[argc] == NULL);
    any_time(1, 0);
    threads(MPI_THREAD_FUNNELED, provided);
    timers();
    processor();
    errors();
    MPI_Finalize();
    any_time(1, 1);
    return verdict();
}
