// covers: MPI_Session_init MPI_Session_finalize MPI_Session_get_num_psets MPI_Session_get_nth_pset MPI_Session_get_info MPI_Session_get_pset_info MPI_Group_from_session_pset MPI_Comm_create_from_group MPI_Intercomm_create_from_groups MPI_Session_create_errhandler MPI_Session_set_errhandler MPI_Session_get_errhandler MPI_Session_call_errhandler MPI_Session_attach_buffer MPI_Session_attach_buffer_c MPI_Session_detach_buffer MPI_Session_detach_buffer_c MPI_Session_flush_buffer MPI_Session_iflush_buffer
// args: only
// args: beside
/*
 * The sessions model, MPI 5.0 sections 11.3 and 7.4.2: MPI without MPI_Init, several times in a process, and (beside)
 * together with the world model, before, during and after it.
 */
#include "check.h"

static int calls, called_with;
static MPI_Session called_on;

static void remember(MPI_Session *s, int *code, ...)
{
    calls++, called_on = *s, called_with = *code;
}

static MPI_Comm world_of(MPI_Session s, const char *tag)
{
    MPI_Group g;
    MPI_Comm c = MPI_COMM_NULL;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Group_free(&g);
    return c;
}

static void ring(MPI_Comm c, int value)
{
    int rank = -1, size = -1, out, in = -1, sum = -1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    out = rank + value;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, c, MPI_STATUS_IGNORE);
    CHECK_EQ(in, (rank + size - 1) % size + value);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, size * (size - 1) / 2);
}

static void psets(MPI_Session s)
{
    int n = -1, world = 0, self = 0;
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[5] = "????", text[16] = "";
        int length = 0, room = sizeof cut, flag = 0, size = -1, rank = -1, value = sizeof text;
        MPI_Group g;
        MPI_Info info;
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL);
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &room, cut);
        CHECK_EQ(room, length);
        CHECK_EQ(strlen(cut), 4); /* as much as there is room for, and the end */
        room = length;
        MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &room, name);
        CHECK_EQ(strlen(name), length - 1);
        CHECK(strncmp(cut, name, 4) == 0);
        world += strcmp(name, "mpi://WORLD") == 0, self += strcmp(name, "mpi://SELF") == 0;
        MPI_Group_from_session_pset(s, name, &g);
        MPI_Group_size(g, &size);
        MPI_Group_rank(g, &rank);
        CHECK(rank >= 0); /* only sets that this process is in are counted */
        MPI_Session_get_pset_info(s, name, &info);
        MPI_Info_get_string(info, "mpi_size", &value, text, &flag);
        CHECK(flag);
        CHECK_EQ(atoi(text), size);
        if (strcmp(name, "mpi://SELF") == 0)
            CHECK_EQ(size, 1);
        MPI_Info_free(&info);
        MPI_Group_free(&g);
    }
    CHECK(world == 1 && self == 1);
}

static void mistakes(MPI_Session s)
{
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Group g = MPI_GROUP_NULL;
    MPI_Comm c = MPI_COMM_SELF;
    MPI_Info info;
    int room = 0;
    CHECK_CLASS(MPI_Group_from_session_pset(s, "mpi://NOBODY", &g), MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_NULL);
    CHECK_CLASS(MPI_Session_get_pset_info(s, "mpi://NOBODY", &info), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 4711, &room, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &room, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
    CHECK_EQ(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_NONSENSE");
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &none), MPI_ERR_INFO_VALUE);
    CHECK(none == MPI_SESSION_NULL);
    MPI_Info_free(&info);
}

static void handlers(MPI_Session s)
{
    MPI_Errhandler mine, got;
    MPI_Session_create_errhandler(remember, &mine);
    MPI_Session_set_errhandler(s, mine);
    MPI_Session_get_errhandler(s, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine); /* in force all the same */
    calls = 0;
    MPI_Session_call_errhandler(s, MPI_ERR_IO);
    CHECK(calls == 1 && called_on == s && called_with == MPI_ERR_IO);
    MPI_Group g;
    CHECK_CLASS(MPI_Group_from_session_pset(s, "mpi://NOBODY", &g), MPI_ERR_ARG);
    CHECK(calls == 2 && called_on == s && error_class(called_with) == MPI_ERR_ARG);
    MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Group_from_session_pset(s, "mpi://NOBODY", &g), MPI_ERR_ARG);
    CHECK_EQ(calls, 2);
}

/* A buffer of the session serves the communicators that come from it, and their children. */
static void buffers(MPI_Session s, MPI_Comm c)
{
    enum { SIZE = 1000 + MPI_BSEND_OVERHEAD };
    static char memory[SIZE], out[500], in[500];
    void *back = NULL;
    int size = -1, rank = -1, ranks = -1;
    MPI_Count large = -1;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm child;
    MPI_Comm_dup(c, &child);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &ranks);
    CHECK_EQ(MPI_Session_attach_buffer(s, memory, SIZE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Session_attach_buffer(s, memory, SIZE), MPI_ERR_BUFFER);
    fill(out, sizeof out, rank);
    CHECK_EQ(MPI_Bsend(out, sizeof out, MPI_BYTE, (rank + 1) % ranks, 3, child), MPI_SUCCESS);
    memset(out, 0, sizeof out);
    MPI_Recv(in, sizeof in, MPI_BYTE, (rank + ranks - 1) % ranks, 3, child, MPI_STATUS_IGNORE);
    CHECK_BYTES(in, sizeof in, (rank + ranks - 1) % ranks);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_iflush_buffer(s, &q), MPI_SUCCESS);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Session_detach_buffer(s, &back, &size), MPI_SUCCESS);
    CHECK(back == memory && size == SIZE);
    CHECK_CLASS(MPI_Bsend(in, 1, MPI_BYTE, rank, 3, child), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Session_attach_buffer_c(s, memory, SIZE), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_detach_buffer_c(s, &back, &large), MPI_SUCCESS);
    CHECK(back == memory && large == SIZE);
    MPI_Comm_free(&child);
}

/* Two halves without a communicator between them. */
static void between_groups(MPI_Session s)
{
    MPI_Group all, half, other;
    MPI_Comm c;
    int rank = -1, size = -1, remote = -1, out, in = -1;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    MPI_Group_size(all, &size);
    MPI_Group_rank(all, &rank);
    if (size > 1) {
        int low = size / 2, upper = rank >= low;
        int lower_range[1][3] = {{0, low - 1, 1}}, upper_range[1][3] = {{low, size - 1, 1}};
        MPI_Group_range_incl(all, 1, upper ? upper_range : lower_range, &half);
        MPI_Group_range_incl(all, 1, upper ? lower_range : upper_range, &other);
        int leads = rank == 0 || rank == size - 1; /* the others need not know the other group */
        CHECK_EQ(MPI_Intercomm_create_from_groups(half, upper ? size - low - 1 : 0, leads ? other : MPI_GROUP_NULL, upper ? 0 : size - low - 1,
                                                  "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c),
                 MPI_SUCCESS);
        MPI_Comm_remote_size(c, &remote);
        CHECK_EQ(remote, upper ? low : size - low);
        out = rank;
        if (rank == 0 || rank == low) {
            MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE);
            CHECK_EQ(in, upper ? 0 : low);
        }
        MPI_Comm_free(&c);
        MPI_Group_free(&half), MPI_Group_free(&other);
    }
    MPI_Group_free(&all);
}

/* Only some processes make a communicator; the others know nothing of it. */
static void some(MPI_Session s)
{
    MPI_Group all, evens;
    MPI_Comm c;
    int rank = -1, size = -1;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    MPI_Group_size(all, &size);
    MPI_Group_rank(all, &rank);
    int range[1][3] = {{(size - 1) / 2 * 2, 0, -2}};
    MPI_Group_range_incl(all, 1, range, &evens);
    if (rank % 2 == 0) {
        MPI_Comm_create_from_group(evens, "evens", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
        ring(c, 5);
        MPI_Comm_free(&c);
    } else {
        CHECK_CLASS(MPI_Comm_create_from_group(evens, "evens", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
    }
    MPI_Group_free(&all), MPI_Group_free(&evens);
}

/* The level in force: it stays where one session took it. */
static int raised;

static void level_of(MPI_Session s, const char *want)
{
    char text[64] = "";
    int room = sizeof text, flag = 0;
    MPI_Info info;
    MPI_Session_get_info(s, &info);
    MPI_Info_get_string(info, "thread_level", &room, text, &flag);
    CHECK_MSG(flag && strcmp(text, want) == 0, "thread_level: expected %s, got %s", want, text);
    MPI_Info_free(&info);
}

static void whole_life(int thorough)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Comm c;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    CHECK(s != MPI_SESSION_NULL);
    c = world_of(s, "whole life");
    MPI_Comm_rank(c, &check_rank);
    MPI_Comm_size(c, &check_ranks);
    ring(c, 17);
    if (thorough) {
        level_of(s, raised ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE");
        psets(s);
        mistakes(s);
        handlers(s);
        buffers(s, c);
        between_groups(s);
        some(s);
    }
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    CHECK(s == MPI_SESSION_NULL);
}

/* Two sessions at once, the second one for threads. */
static void two(void)
{
    MPI_Session one, many;
    MPI_Info info;
    MPI_Comm a, b;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one);
    a = world_of(one, "one");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &many);
    raised = 1;
    level_of(many, "MPI_THREAD_MULTIPLE");
    level_of(one, "MPI_THREAD_MULTIPLE"); /* in force, not what it asked for */
    b = world_of(many, "many");
    ring(a, 1), ring(b, 2);
    MPI_Session_finalize(&one); /* its communicator is the user's to free, and works until then */
    ring(a, 3), ring(b, 4);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Session_finalize(&many);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int flag = -1, beside = argc > 1 && strcmp(argv[1], "beside") == 0;
    check_name = "session";
    for (int i = 0; i < 3; i++)
        whole_life(i == 1);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0); /* that is the world model's */
    if (beside) {
        MPI_Session s;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
        MPI_Init(&argc, &argv);
        MPI_Comm c = world_of(s, "beside");
        ring(c, 1), ring(MPI_COMM_WORLD, 2);
        whole_life(0);
        MPI_Finalize();
        MPI_Finalized(&flag);
        CHECK_EQ(flag, 1);
        ring(c, 3); /* the session still needs MPI */
        MPI_Comm_free(&c);
        MPI_Session_finalize(&s);
    }
    two();
    whole_life(1);
    return verdict();
}
