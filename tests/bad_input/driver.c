/*
 * Calls every function with one wrong argument at a time, in one of these ways:
 *   return   MPI_ERRORS_RETURN: the error class is right and the next right call works
 *   fatal    the default error handler: one readable block that names function and argument, exit status not 0
 *   before   before MPI_Init; `after`: after MPI_Finalize: refused unless the standard allows it, then it works
 * The last line counts: `cases N`. Findings go to standard output; the exit status is 1 if there are any.
 */
#include "bad_input.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void make_stale(void), make_info(void), make_live(void), drop_fresh(void);

#define SECONDS 20    /* that a call may take */
#define RETURNED 100  /* exit status of a child whose call came back with an error */
#define SUCCEEDED 101 /* with success */

static int fatal_calls;
static const char *running = "?", *with = "?", *as = "?";
static struct { /* shared with children */
    int failures, cases;
} *found;

static void stopped(int signal)
{
    char text[256];
    int length = snprintf(text, sizeof text, "FAIL %s, %s = %s: signal %d\n", running, with, as, signal);
    if (write(STDOUT_FILENO, text, (size_t)length) < 0)
        _exit(3);
    _exit(2);
}

static void watch(void)
{
    signal(SIGALRM, stopped);
    signal(SIGSEGV, stopped);
    signal(SIGBUS, stopped);
    signal(SIGFPE, stopped);
    signal(SIGABRT, stopped);
}

#define FAIL(...)                                                                                                         \
    do {                                                                                                                  \
        found->failures++;                                                                                                \
        printf("FAIL ");                                                                                                  \
        printf(__VA_ARGS__);                                                                                              \
        printf("\n");                                                                                                     \
        fflush(stdout);                                                                                                   \
    } while (0)

static void set_handlers(MPI_Errhandler errhandler)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    MPI_Comm_set_errhandler(live.comm, errhandler);
    MPI_Win_set_errhandler(live.win, errhandler);
    MPI_File_set_errhandler(MPI_FILE_NULL, errhandler);
    MPI_File_set_errhandler(live.file, errhandler);
}

void arm(void)
{
    if (fatal_calls)
        set_handlers(MPI_ERRORS_ARE_FATAL);
}

void disarm(void)
{
    if (fatal_calls)
        set_handlers(MPI_ERRORS_RETURN);
}

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static const char *text_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        return "?";
    return text;
}

/* A message to this process on the communicator that was argument of the bad call. */
static void still_works(const char *function, const char *argument, const char *value)
{
    static int next;
    int sent = ++next, got = -1;
    int code = MPI_Sendrecv(&sent, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, live.comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || got != sent)
        FAIL("%s, %s = %s: a message after it fails: %s", function, argument, value, text_of(code));
}

static int call(const struct function *function, int wrong, const char *argument, const char *value)
{
    running = function->name, with = argument, as = value;
    alarm(SECONDS);
    int code = function->call(wrong);
    alarm(0);
    return code;
}

static void right_call(const struct function *function)
{
    int code = call(function, 0, "everything", "right");
    int tool = !strncmp(function->name, "MPI_T_", 6);
    int honest = tool ? MPI_T_ERR_NOT_SUPPORTED : MPI_ERR_UNSUPPORTED_OPERATION;
    int want = function->state == MISSING ? honest : function->gives;
    if (class_of(code) != want && code != want)
        FAIL("%s with right arguments: expected %d, got %d: %s", function->name, want, code, text_of(code));
    drop_fresh();
}

static void wrong_call(const struct function *function, const struct wrong *wrong)
{
    make_stale();
    int code = call(function, wrong->number, wrong->argument, wrong->value);
    if (class_of(code) != wrong->class)
        FAIL("%s, %s = %s: expected %s, got %s", function->name, wrong->argument, wrong->value, wrong->class_name,
             text_of(code));
    drop_fresh();
    code = call(function, 0, "everything", "right again");
    if (class_of(code) != function->gives)
        FAIL("%s, %s = %s: the right call after it fails: %s", function->name, wrong->argument, wrong->value, text_of(code));
    drop_fresh();
    still_works(function->name, wrong->argument, wrong->value);
    found->cases++;
}

/* Each function in a child of its own, so that a crash costs no more than the rest of its cases. */
static void returning(const char *only)
{
    for (int at = 0; functions[at].name; at++) {
        const struct function *function = &functions[at];
        int status = 0;
        if (function->state == NEVER || (only && strcmp(only, function->name)))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            right_call(function);
            for (const struct wrong *wrong = wrongs; wrong->number; wrong++)
                if (wrong->function == at)
                    wrong_call(function, wrong);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            FAIL("%s: the process ended with status %d", function->name, status);
    }
}

/* Runs a call in a child; its output and exit status. A signal counts as 128 and its number, as in the shell. */
static int in_child(const struct function *function, int wrong, int fatal, char *output, size_t size)
{
    int ends[2], status = -1;
    size_t length = 0;
    if (pipe(ends))
        exit(3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        fatal_calls = fatal;
        alarm(SECONDS);
        _exit(function->call(wrong) == MPI_SUCCESS ? SUCCEEDED : RETURNED);
    }
    close(ends[1]);
    for (ssize_t part; length + 1 < size && (part = read(ends[0], output + length, size - 1 - length)) > 0;)
        length += (size_t)part;
    output[length] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        found++;
    return found;
}

/* One block, and it says what the user needs to know. */
static void check_block(const struct function *function, const char *argument, const char *value, int status,
                        const char *output, const char *class_name, const char *says)
{
    char names_argument[128];
    snprintf(names_argument, sizeof names_argument, "argument %s", argument);
    const char *after_name = strstr(output, function->name);
    after_name = after_name ? after_name + strlen(function->name) : "_";
    if (status == SUCCEEDED || status == RETURNED)
        FAIL("%s, %s = %s: it came back %s", function->name, argument, value,
             status == SUCCEEDED ? "with success" : "with an error");
    else if (status == 0 || status >= 128)
        FAIL("%s, %s = %s: it ended with status %d:\n%s", function->name, argument, value, status, output);
    else if (count(output, " failed: ") != 1 || *after_name != ' ' || !strstr(output, class_name) ||
             (says ? !strstr(output, says) : !strstr(output, names_argument)))
        FAIL("%s, %s = %s: not one block with function, %s and argument:\n%s", function->name, argument, value,
             class_name, output);
}

static void ending(const char *only)
{
    static char output[1 << 14];
    for (const struct wrong *wrong = wrongs; wrong->number; wrong++) {
        const struct function *function = &functions[wrong->function];
        if (only && strcmp(only, function->name))
            continue;
        make_stale();
        running = function->name, with = wrong->argument, as = wrong->value;
        int status = in_child(function, wrong->number, 1, output, sizeof output);
        found->cases++;
        /* Functions of MPI_T call no error handler. */
        if (!strncmp(function->name, "MPI_T_", 6)) {
            if (status != RETURNED || output[0] != 0)
                FAIL("%s, %s = %s: it must return its error; it ended with status %d:\n%s", function->name, wrong->argument,
                     wrong->value, status, output);
            continue;
        }
        check_block(function, wrong->argument, wrong->value, status, output, wrong->class_name, NULL);
    }
}

static void outside(const char *only, const char *says)
{
    static char output[1 << 14];
    for (const struct function *function = functions; function->name; function++) {
        if (function->state == NEVER || (only && strcmp(only, function->name)))
            continue;
        int tool = !strncmp(function->name, "MPI_T_", 6);
        /* While a session is open everything may be called: only for those that are given one. */
        int session = function->any_time && strstr(function->name, "ession");
        MPI_Errhandler kept = in_force;
        if (session) {
            in_force = MPI_ERRORS_RETURN;
            live.session = fresh_session();
            in_force = kept;
        }
        int status = in_child(function, 0, 0, output, sizeof output);
        drop_fresh();
        found->cases++;
        if (function->state == MISSING || function->gives != MPI_SUCCESS) {
            if (status == SUCCEEDED)
                FAIL("%s %s: it succeeds", function->name, says);
        } else if (tool && !function->any_time) {
            /* Wants an object of MPI's, which is not there. */
            if (status != RETURNED)
                FAIL("%s %s: it must be refused by its class; it ended with status %d:\n%s", function->name, says, status, output);
        } else if (function->any_time) {
            if (status != SUCCEEDED)
                FAIL("%s %s: the standard allows it; it ended with status %d:\n%s", function->name, says, status, output);
        } else {
            check_block(function, "state", says, status, output, "MPI_ERR_OTHER", says);
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "return", *only = argc > 2 ? argv[2] : NULL;
    /* No call may start a launcher: names of ports are an error here. */
    setenv("OMPI_MCA_ess_singleton_launcher", "/nowhere/mpirun", 1);
    found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return 3;
    watch();
    if (strcmp(mode, "return"))
        in_force = MPI_ERRORS_ARE_FATAL;
    make_info();
    if (!strcmp(mode, "before")) {
        outside(only, "before MPI_Init");
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    } else if (!strcmp(mode, "after")) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        outside(only, "after MPI_Finalize");
    } else {
        MPI_Init(&argc, &argv);
        alive = 1;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        make_live();
        /* Errors of files are returned unless somebody says otherwise: section 14.7. */
        MPI_File_set_errhandler(MPI_FILE_NULL, in_force);
        if (!strcmp(mode, "fatal"))
            ending(only);
        else
            returning(only);
        MPI_Finalize();
    }
    printf("cases %d\n", found->cases);
    return found->failures > 0;
}
