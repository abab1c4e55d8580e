// covers: MPI_Add_error_class MPI_Add_error_code MPI_Add_error_string MPI_Remove_error_class MPI_Remove_error_code MPI_Remove_error_string MPI_Comm_create_errhandler MPI_Comm_set_errhandler MPI_Comm_get_errhandler MPI_Comm_call_errhandler MPI_Errhandler_free MPI_Abort
/*
 * Error classes, codes and texts of the program's own, MPI 5.0 section 9.5; handlers that are called with them, also while
 * another handler runs; and how a job ends: MPI_Abort, MPI_ERRORS_ABORT and MPI_ERRORS_ARE_FATAL in a process of its own.
 */
#include "check.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls, last_code, depth;
static MPI_Comm last_comm;

static int text_is(int code, const char *want)
{
    char text[MPI_MAX_ERROR_STRING];
    int n = -1;
    memset(text, '#', sizeof text);
    MPI_Error_string(code, text, &n);
    return strcmp(text, want) == 0 && n == (int)strlen(want);
}

static void added(void)
{
    int class = -1, code = -1, other = -1, got = -1, flag = 0, *used = NULL, before;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &flag);
    CHECK(flag && *used >= MPI_ERR_LASTCODE);
    before = *used;
    MPI_Add_error_class(&class);
    CHECK(class > MPI_ERR_LASTCODE);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_code(MPI_ERR_IO, &other); /* a code of a class of the standard's */
    CHECK(code > class && other > code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &flag);
    CHECK(*used >= other && *used > before);
    MPI_Error_class(code, &got);
    CHECK_EQ(got, class);
    MPI_Error_class(other, &got);
    CHECK_EQ(got, MPI_ERR_IO);
    MPI_Error_class(class, &got);
    CHECK_EQ(got, class);
    CHECK(text_is(code, "")); /* until there is one */
    MPI_Add_error_string(code, "the pump leaks");
    MPI_Add_error_string(class, "plumbing");
    CHECK(text_is(code, "the pump leaks"));
    CHECK(text_is(class, "plumbing"));
    MPI_Add_error_string(code, "the pump is dry");
    CHECK(text_is(code, "the pump is dry"));
    CHECK_CLASS(MPI_Add_error_string(MPI_ERR_IO, "mine"), MPI_ERR_ARG); /* the standard's */
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG); /* its text first */
    MPI_Remove_error_string(code);
    CHECK(text_is(code, ""));
    MPI_Remove_error_string(class);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG); /* its codes first, if they are of this class */
    CHECK_CLASS(MPI_Remove_error_string(MPI_ERR_IO), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(MPI_ERR_IO), MPI_ERR_ARG);
    CHECK_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
    CHECK_CLASS(MPI_Error_class(code, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_EQ(MPI_Remove_error_code(other), MPI_SUCCESS);
    MPI_Remove_error_string(class);
    CHECK_EQ(MPI_Remove_error_class(class), MPI_SUCCESS);
    CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Add_error_code(class, &code), MPI_ERR_ARG);
}

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++, last_comm = *comm, last_code = *code;
    if (depth++ == 0) { /* an error within the handler reaches the handler again */
        int x = 0;
        MPI_Send(&x, 1, MPI_INT, check_ranks, 1, *comm);
    }
    depth--;
}

/* A handler sees communicator and code, codes of the program's, too, and the call returns the code. */
static void handlers(void)
{
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL, now = MPI_ERRHANDLER_NULL;
    MPI_Comm c, child;
    int class, code, x = 0;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_create_errhandler(note, &mine);
    MPI_Comm_set_errhandler(c, mine);
    MPI_Errhandler_free(&mine);
    depth = 1;
    CHECK_EQ(MPI_Comm_call_errhandler(c, code), MPI_SUCCESS);
    CHECK(calls == 1 && last_comm == c && last_code == code);
    MPI_Comm_dup(c, &child); /* inherits */
    MPI_Comm_get_errhandler(child, &now);
    CHECK(now != MPI_ERRORS_RETURN && now != MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&now);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, check_ranks, 1, child), MPI_ERR_RANK);
    CHECK(calls == 2 && last_comm == child);
    MPI_Comm_free(&child);
    depth = 0;
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, -5, c), MPI_ERR_TAG);
    CHECK_EQ(calls, 4); /* the tag, and the rank within the handler */
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 0, -5, c), MPI_ERR_TAG);
    CHECK_EQ(calls, 4);
    CHECK_EQ(MPI_Comm_call_errhandler(c, code), MPI_SUCCESS);
    CHECK_EQ(calls, 4);
    CHECK_CLASS(MPI_Comm_set_errhandler(c, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    MPI_Comm_free(&c);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
}

/* Runs this program alone as a child that ends as `how` says; returns its exit status, or -1 for a signal. */
static int ends(char *program, char *how)
{
    char *words[] = {program, how, NULL}, *nothing[] = {NULL};
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, 1), dup2(quiet, 2);
        execve(program, words, nothing); /* without the launcher's variables: a job of its own */
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int child(int argc, char **argv)
{
    int x = 0;
    MPI_Init(&argc, &argv);
    switch (argv[1][0]) {
    case 'a':
        MPI_Abort(MPI_COMM_WORLD, 7);
        break;
    case 'b':
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
        MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        break;
    case 'f':
        MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        break;
    case 'c':
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO);
        break;
    default:
        MPI_Finalize();
    }
    return 0;
}

static int on_self, on_comm, on_window;

static void note_comm(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    *(*comm == MPI_COMM_SELF ? &on_self : &on_comm) += 1;
}

static void note_window(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    on_window += 1;
}

/* A call that names nothing but a request reports to the handler of what the request belongs to, MPI 5.0 section 9.3. */
static void requests(MPI_Comm c)
{
    MPI_Errhandler mine, before, of_window;
    MPI_Request q = MPI_REQUEST_NULL, r;
    MPI_Comm quiet;
    MPI_Win win;
    int word = 0, flag, wanted = 0, list[1] = {0}, *memory;
    MPI_Comm_create_errhandler(note_comm, &mine);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    MPI_Comm_dup(c, &quiet);
    MPI_Comm_set_errhandler(quiet, mine);
    on_self = on_comm = 0;
#define TO_COMM(call)                                                                                                     \
    do {                                                                                                                  \
        CHECK((call) != MPI_SUCCESS);                                                                                     \
        wanted++;                                                                                                         \
        CHECK_MSG(on_comm == wanted && on_self == 0, "%s: reported elsewhere", #call);                                    \
    } while (0)
    for (int to_nobody = 0; to_nobody < 2; to_nobody++) {
        int peer = to_nobody ? MPI_PROC_NULL : check_rank;
        MPI_Psend_init(&word, 1, 1, MPI_INT, peer, 3, quiet, MPI_INFO_NULL, &q);
        MPI_Precv_init(&flag, 1, 1, MPI_INT, peer, 3, quiet, MPI_INFO_NULL, &r);
        TO_COMM(MPI_Pready(0, q));
        TO_COMM(MPI_Pready(-1, q));
        TO_COMM(MPI_Pready_range(1, 0, q));
        TO_COMM(MPI_Pready_range(0, 0, q));
        TO_COMM(MPI_Pready_list(1, list, q));
        TO_COMM(MPI_Parrived(r, -1, &flag));
        TO_COMM(MPI_Cancel(&q));
        MPI_Start(&q), MPI_Start(&r);
        TO_COMM(MPI_Start(&q));
        TO_COMM(MPI_Pready(1, q));
        TO_COMM(MPI_Pready(0, r));
        TO_COMM(MPI_Cancel(&q));
        TO_COMM(MPI_Cancel(&r));
        if (!to_nobody)
            TO_COMM(MPI_Request_free(&r));
        MPI_Pready(0, q);
        MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Request_free(&q), MPI_Request_free(&r);
    }
    MPI_Recv_init(&word, 1, MPI_INT, check_rank, 4, quiet, &q);
    MPI_Start(&q);
    TO_COMM(MPI_Start(&q));
    TO_COMM(MPI_Startall(1, &q));
    MPI_Cancel(&q), MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_Request_free(&q);
    MPI_Irecv(&word, 1, MPI_INT, check_rank, 4, quiet, &q);
    TO_COMM(MPI_Start(&q));
    MPI_Cancel(&q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Barrier_init(quiet, MPI_INFO_NULL, &q);
    TO_COMM(MPI_Cancel(&q));
    MPI_Request_free(&q);
    /* No request at all: nothing but MPI_COMM_SELF is left. */
    q = MPI_REQUEST_NULL;
    CHECK(MPI_Start(&q) != MPI_SUCCESS);
    CHECK_EQ(on_self, 1);
    CHECK_EQ(on_comm, wanted);
    MPI_Win_create_errhandler(note_window, &of_window);
    memory = &word;
    MPI_Win_create(memory, sizeof *memory, sizeof *memory, MPI_INFO_NULL, quiet, &win);
    MPI_Win_set_errhandler(win, of_window);
    MPI_Win_lock_all(0, win);
    /* Another process answers; the request of an access that is done at once belongs to nothing. */
    MPI_Rget(&flag, 1, MPI_INT, (check_rank + 1) % check_ranks, 0, 1, MPI_INT, win, &q);
    if (check_ranks > 1) {
        CHECK(MPI_Cancel(&q) != MPI_SUCCESS);
        CHECK_EQ(on_window, 1);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Errhandler_free(&of_window);
    CHECK_EQ(on_self, 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
    MPI_Errhandler_free(&mine), MPI_Errhandler_free(&before);
    MPI_Comm_free(&quiet);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argc, argv);
    start(&argc, &argv, "errhandler");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    added();
    handlers();
    requests(MPI_COMM_WORLD);
    MPI_Finalize();
    if (check_rank == 0) {
        CHECK_EQ(ends(argv[0], "nothing"), 0);
        CHECK_EQ(ends(argv[0], "abort"), 7);
        CHECK_EQ(ends(argv[0], "by handler"), MPI_ERR_RANK);
        CHECK_EQ(ends(argv[0], "fatal"), MPI_ERR_RANK);
        CHECK_EQ(ends(argv[0], "called"), MPI_ERR_IO);
    }
    return verdict();
}
