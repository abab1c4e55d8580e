// covers: MPI_T_init_thread MPI_T_finalize MPI_T_cvar_get_num MPI_T_cvar_get_info MPI_T_cvar_get_index MPI_T_cvar_handle_alloc MPI_T_cvar_handle_free MPI_T_cvar_read MPI_T_cvar_write MPI_T_enum_get_info MPI_T_enum_get_item
// ranks: 1 2
/*
 * Control variables, MPI 5.0 section 15.3.6: all of them are looked at and read before MPI_Init, while MPI is active and after
 * MPI_Finalize. Some are written, and what they control changes.
 */
#include "tool.h"

static char *value_of(int index, MPI_Datatype datatype)
{
    MPI_T_cvar_handle handle;
    int count = -1;
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK(count > 0);
    /* More than enough for numbers, too. */
    char *value = calloc((size_t)count + 1, 8);
    OK(MPI_T_cvar_read(handle, value));
    if (datatype == MPI_CHAR && is_ours())
        CHECK(strlen(value) < (size_t)count);
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    return value;
}

static void enumeration(MPI_T_enum words, int value)
{
    char name[256], word[256];
    int number = -1, length = sizeof name, found = 0;
    OK(MPI_T_enum_get_info(words, &number, name, &length));
    CHECK(number > 0 && strlen(name) + 1 == (size_t)length);
    for (int item = 0; item < number; item++) {
        int own = -1;
        length = sizeof word;
        OK(MPI_T_enum_get_item(words, item, &own, word, &length));
        CHECK(length > 1 && strlen(word) + 1 == (size_t)length);
        found += own == value;
    }
    if (is_ours()) {
        CHECK_EQ(found, 1);
        TOOL(MPI_T_enum_get_item(words, number, &number, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_enum_get_item(words, -1, &number, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    }
}

static int all(void)
{
    int number = -1, enumerations = 0;
    OK(MPI_T_cvar_get_num(&number));
    CHECK(number > 0);
    for (int index = 0; index < number; index++) {
        char name[256], description[4096], small[5] = "####";
        int name_length = sizeof name, description_length = sizeof description, small_length = 4, verbosity, bind, scope, same;
        MPI_Datatype datatype;
        MPI_T_enum words;
        int code = MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &datatype, &words, description,
                                       &description_length, &bind, &scope);
        if (code == MPI_T_ERR_INVALID_INDEX && library_is("Open MPI"))
            continue;
        CHECK_EQ(code, MPI_SUCCESS);
        CHECK(strlen(name) + 1 == (size_t)name_length && name_length > 1);
        if (!library_is("Open MPI")) /* writes nothing where it knows nothing */
            CHECK(strlen(description) + 1 == (size_t)description_length);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        OK(MPI_T_cvar_get_index(name, &same));
        if (!is_ours())
            continue;
        CHECK_EQ(same, index);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK(description_length > 10);
        /* A buffer that is too small, none, and nothing wanted at all. */
        OK(MPI_T_cvar_get_info(index, small, &small_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(small_length == name_length && strncmp(small, name, 3) == 0 && strlen(small) <= 3 && small[4] == 0);
        small_length = 0;
        OK(MPI_T_cvar_get_info(index, small, &small_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK_EQ(small_length, name_length);
        OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        char *value = value_of(index, datatype);
        CHECK(datatype == MPI_INT || datatype == MPI_COUNT || datatype == MPI_UNSIGNED_LONG_LONG || datatype == MPI_CHAR);
        CHECK_EQ(words != MPI_T_ENUM_NULL, datatype == MPI_INT);
        if (words != MPI_T_ENUM_NULL) {
            enumeration(words, *(int *)value);
            enumerations++;
        }
        free(value);
    }
    CHECK(!is_ours() || enumerations > 5);
    return number;
}

/* A handle of a variable by name. */
static MPI_T_cvar_handle handle_of(const char *name)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count;
    OK(MPI_T_cvar_get_index(name, &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    return handle;
}

static void written_before_start(void)
{
    unsigned long long limit = 0, wanted = 3000;
    MPI_T_cvar_handle handle = handle_of("pml_ob1_eager_limit");
    OK(MPI_T_cvar_read(handle, &limit));
    CHECK(limit != wanted);
    OK(MPI_T_cvar_write(handle, &wanted));
    OK(MPI_T_cvar_read(handle, &limit));
    CHECK_EQ(limit, wanted);
    unsigned long long too_large = 1ull << 63;
    TOOL(MPI_T_cvar_write(handle, &too_large), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_handle_free(&handle));
    char text[4096];
    handle = handle_of("btl");
    OK(MPI_T_cvar_write(handle, "^nothing"));
    OK(MPI_T_cvar_read(handle, text));
    CHECK(strcmp(text, "^nothing") == 0);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    TOOL(MPI_T_cvar_write(handle, text), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_write(handle, ""));
    OK(MPI_T_cvar_handle_free(&handle));
    handle = handle_of("oob_tcp_silence_timeout_s");
    MPI_Count seconds = 1;
    TOOL(MPI_T_cvar_write(handle, &seconds), MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_handle_free(&handle));
}

static void written_while_active(void)
{
    unsigned long long limit = 0;
    MPI_T_cvar_handle handle = handle_of("pml_ob1_eager_limit");
    OK(MPI_T_cvar_read(handle, &limit));
    CHECK_EQ(limit, 3000);
    TOOL(MPI_T_cvar_write(handle, &limit), MPI_T_ERR_CVAR_SET_NOT_NOW);
    OK(MPI_T_cvar_handle_free(&handle));
    handle = handle_of("coll_tuned_bcast_algorithm");
    int before = -1, wrong = 1000, word = 1, now = -1;
    OK(MPI_T_cvar_read(handle, &before));
    TOOL(MPI_T_cvar_write(handle, &wrong), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_write(handle, &word));
    OK(MPI_T_cvar_read(handle, &now));
    CHECK_EQ(now, word);
    OK(MPI_T_cvar_write(handle, &before));
    OK(MPI_T_cvar_handle_free(&handle));
}

/* Of a call that concerns no object the handler of MPI_COMM_WORLD is in force with mpi_compat_mpi3, else that of MPI_COMM_SELF. */
static int self_called, world_called;
static void of_self(MPI_Comm *comm, int *code, ...)
{
    self_called += comm != NULL && *code != MPI_SUCCESS;
}
static void of_world(MPI_Comm *comm, int *code, ...)
{
    world_called += comm != NULL && *code != MPI_SUCCESS;
}

static void effect(void)
{
    MPI_Errhandler self, world;
    MPI_Comm_create_errhandler(of_self, &self);
    MPI_Comm_create_errhandler(of_world, &world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    MPI_T_cvar_handle handle = handle_of("mpi_compat_mpi3");
    int size, flag = -1;
    OK(MPI_T_cvar_read(handle, &flag));
    CHECK_EQ(flag, 0);
    MPI_Type_size(MPI_DATATYPE_NULL, &size);
    CHECK(self_called == 1 && world_called == 0);
    flag = 1;
    OK(MPI_T_cvar_write(handle, &flag));
    MPI_Type_size(MPI_DATATYPE_NULL, &size);
    CHECK(self_called == 1 && world_called == 1);
    flag = 0;
    OK(MPI_T_cvar_write(handle, &flag));
    MPI_Type_size(MPI_DATATYPE_NULL, &size);
    CHECK(self_called == 2 && world_called == 1);
    OK(MPI_T_cvar_handle_free(&handle));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&self);
    MPI_Errhandler_free(&world);
}

static void refused(void)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, stale;
    int number, count, length = -1;
    char name[16];
    OK(MPI_T_cvar_get_num(&number));
    if (library_is("Open MPI")) /* other codes */
        return;
    TOOL(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_cvar_handle_alloc(number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_cvar_get_index("no such variable", &number), MPI_T_ERR_INVALID_NAME);
    if (!is_ours())
        return;
    TOOL(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID);
    TOOL(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    TOOL(MPI_T_cvar_get_index(NULL, &number), MPI_T_ERR_INVALID);
    TOOL(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &number), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_cvar_handle_alloc(0, NULL, &handle, &count));
    TOOL(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
    stale = handle;
    OK(MPI_T_cvar_handle_free(&handle));
    TOOL(MPI_T_cvar_read(stale, name), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_cvar_write(stale, name), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_enum_get_info((MPI_T_enum)12345678, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int number, provided;
    check_name = "tool_cvars";
    if (!library_is("MPICH")) { /* crashes */
        TOOL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
        TOOL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    }
    if (is_ours())
        TOOL(MPI_T_init_thread(7, &provided), MPI_T_ERR_INVALID);
    tool_start();
    int before = all();
    if (is_ours())
        written_before_start();
    start(&argc, &argv, "tool_cvars");
    if (is_ours()) {
        CHECK_EQ(all(), before);
        written_while_active();
        effect();
    }
    refused();
    /* Counted. */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    OK(MPI_T_cvar_get_num(&number));
    MPI_Finalize();
    OK(MPI_T_cvar_get_num(&number));
    CHECK(number >= before);
    OK(MPI_T_finalize());
    if (is_ours()) {
        TOOL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
        tool_start();
        OK(MPI_T_cvar_get_num(&number));
        OK(MPI_T_finalize());
    }
    return verdict();
}
