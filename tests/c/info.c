// covers: MPI_Info_create MPI_Info_create_env MPI_Info_set MPI_Info_get MPI_Info_get_string MPI_Info_get_valuelen MPI_Info_get_nkeys MPI_Info_get_nthkey MPI_Info_delete MPI_Info_dup MPI_Info_free MPI_Comm_set_info MPI_Comm_get_info MPI_Comm_dup_with_info MPI_Get_hw_resource_info
/*
 * Info objects, MPI 5.0 section 10: pairs of key and value in the order in which they were set, allowed before MPI_Init
 * and after MPI_Finalize; and the objects that MPI itself hands out.
 */
#include "check.h"

static void *get(MPI_Info info, const char *key, char *value, int room)
{
    int flag = -1;
    memset(value, '#', (size_t)room);
    MPI_Info_get_string(info, key, &room, value, &flag);
    return flag == 1 ? value : NULL;
}

static void pairs(void)
{
    MPI_Info info = MPI_INFO_NULL, copy = MPI_INFO_NULL;
    char text[64], key[MPI_MAX_INFO_KEY];
    int n = -1, flag = -1, length = -1;
    MPI_Info_create(&info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 0);
    MPI_Info_set(info, "wdir", "/tmp");
    MPI_Info_set(info, "host", "tiger");
    MPI_Info_set(info, "soft", "1:7");
    MPI_Info_set(info, "host", "lion"); /* replaces, at its place */
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 3);
    static const char *keys[] = {"wdir", "host", "soft"};
    for (int i = 0; i < 3; i++) {
        MPI_Info_get_nthkey(info, i, key);
        CHECK_MSG(strcmp(key, keys[i]) == 0, "key %d: expected %s, got %s", i, keys[i], key);
    }
    CHECK(get(info, "host", text, sizeof text) && strcmp(text, "lion") == 0);
    CHECK(get(info, "Host", text, sizeof text) == NULL);
    CHECK(text[0] == '#');
    /* Cut, with the length that would have been needed; with no room at all only the length. */
    length = 3;
    memset(text, '#', sizeof text);
    MPI_Info_get_string(info, "host", &length, text, &flag);
    CHECK(flag == 1 && strcmp(text, "li") == 0 && text[3] == '#');
    CHECK_EQ(length, 5);
    length = 0;
    MPI_Info_get_string(info, "host", &length, NULL, &flag);
    CHECK(flag == 1 && length == 5);
    MPI_Info_get_valuelen(info, "soft", &length, &flag);
    CHECK(flag == 1 && length == 3);
    MPI_Info_get_valuelen(info, "none", &length, &flag);
    CHECK_EQ(flag, 0);
    memset(text, '#', sizeof text);
    MPI_Info_get(info, "soft", 2, text, &flag); /* room for two and the NUL */
    CHECK(flag == 1 && strcmp(text, "1:") == 0);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "wdir");
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 2);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(strcmp(key, "host") == 0);
    MPI_Info_get_nkeys(copy, &n);
    CHECK_EQ(n, 3);
    CHECK(get(copy, "wdir", text, sizeof text) && strcmp(text, "/tmp") == 0);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL && copy == MPI_INFO_NULL);
}

static void mistakes(void)
{
    MPI_Info info, stale;
    static char longest[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    memset(longest, 'v', sizeof longest - 1);
    memset(key, 'k', sizeof key - 1);
    MPI_Info_create(&info);
    stale = info;
    CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_set(info, "k", longest), MPI_ERR_INFO_VALUE);
    CHECK_CLASS(MPI_Info_delete(info, "none"), MPI_ERR_INFO_NOKEY);
    CHECK_CLASS(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    longest[MPI_MAX_INFO_VAL - 1] = '\0';
    CHECK_CLASS(MPI_Info_set(info, "k", longest), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Info_set(stale, "k", "v"), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
}

/* What the environment says of the command that runs. */
static void environment(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    char text[MPI_MAX_INFO_VAL], want[32];
    char *words[] = {"prog", "-a", "b"};
    MPI_Info_create_env(3, words, &info);
    CHECK(get(info, "command", text, sizeof text) && strcmp(text, "prog") == 0);
    CHECK(get(info, "argv", text, sizeof text) && strcmp(text, "-a b") == 0);
    MPI_Info_free(&info);
    MPI_Info_create_env(argc, argv, &info);
    CHECK(get(info, "command", text, sizeof text) && strcmp(text, argv[0]) == 0);
    MPI_Info_free(&info);
    CHECK(get(MPI_INFO_ENV, "command", text, sizeof text) && strcmp(text, argv[0]) == 0);
    snprintf(want, sizeof want, "%d", check_ranks);
    CHECK(get(MPI_INFO_ENV, "maxprocs", text, sizeof text) && strcmp(text, want) == 0);
    CHECK(get(MPI_INFO_ENV, "thread_level", text, sizeof text) && strcmp(text, "MPI_THREAD_SINGLE") == 0);
}

/* MPI 5.0 section 7.4.4: what MPI_Comm_get_info returns is in force, and a duplicate begins without it. */
static void promises(void)
{
    static const char *const keys[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                       "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering"};
    MPI_Info info, used;
    MPI_Comm c, copy;
    MPI_Request q;
    MPI_Message message;
    MPI_Status status;
    char text[64];
    int x = 7, flag = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
    for (int i = 0; i < 5; i++)
        MPI_Info_set(info, keys[i], "true");
    MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_dup(c, &copy);
    for (int i = 0; i < 5; i++) {
        MPI_Comm_get_info(c, &used);
        CHECK(get(used, keys[i], text, sizeof text) && strcmp(text, "true") == 0);
        CHECK(get(used, "mpi_assert_memory_alloc_kinds", text, sizeof text) && strcmp(text, "system") == 0);
        CHECK(get(used, "mpi_memory_alloc_kinds", text, sizeof text) && strcmp(text, "mpi,system") == 0);
        MPI_Info_free(&used);
        MPI_Comm_get_info(copy, &used);
        CHECK(get(used, keys[i], text, sizeof text) && strcmp(text, "false") == 0);
        CHECK(get(used, "mpi_assert_memory_alloc_kinds", text, sizeof text) == NULL);
        MPI_Info_free(&used);
    }
    CHECK(get(MPI_INFO_ENV, "mpi_memory_alloc_kinds", text, sizeof text) && strcmp(text, "mpi,system") == 0);
    /* Who promised to name the source and does not is told so, by each function that takes one. */
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, &q), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, &q), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, 0, c, &flag, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Improbe(MPI_ANY_SOURCE, 0, c, &flag, &message, &status), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 0, MPI_ANY_SOURCE, 0, c, &status), MPI_ERR_RANK);
    /* What it did not promise it may do; so may who takes the promise back, and who has a duplicate. */
    CHECK_CLASS(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 3, 0, MPI_ANY_TAG, c, &status), MPI_SUCCESS);
    CHECK_EQ(status.MPI_TAG, 3);
    MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 4, MPI_ANY_SOURCE, 4, copy, &status);
    CHECK_EQ(status.MPI_SOURCE, 0);
    MPI_Info_set(info, "mpi_assert_no_any_source", "false");
    MPI_Comm_set_info(c, info);
    CHECK_CLASS(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 5, MPI_ANY_SOURCE, 5, c, &status), MPI_SUCCESS);
    CHECK_EQ(status.MPI_TAG, 5);
    CHECK_EQ(x, 7);
    MPI_Info_free(&info);
    MPI_Comm_free(&copy), MPI_Comm_free(&c);
}

/* Hints that nobody understands are taken and ignored; what is in use is an object of the caller's. */
static void hints(void)
{
    MPI_Info info, used = MPI_INFO_NULL;
    MPI_Comm c = MPI_COMM_NULL;
    char text[64];
    int size = -1, result = -1, n = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour_of_the_cables", "yellow");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &c);
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, check_ranks);
    MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_set_info(c, info);
    MPI_Comm_get_info(c, &used);
    CHECK(used != MPI_INFO_NULL && used != info);
    CHECK(get(used, "colour_of_the_cables", text, sizeof text) == NULL);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Comm_free(&c);
    promises();
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY];
        MPI_Info_get_nthkey(info, i, key);
        CHECK_MSG(strstr(key, "://") != NULL, "the key %s is no URI", key);
        CHECK(get(info, key, text, sizeof text) && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0));
    }
    CHECK(n >= 1);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_name = "info";
    pairs();
    start(&argc, &argv, "info");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    pairs();
    mistakes();
    environment(argc, argv);
    hints();
    MPI_Finalize();
    pairs();
    return verdict();
}
