/* What `cargo xtask test dynamic` runs: what mpirun says of jobs that wait for each other, what errors say, what spawned jobs inherit, and
 * that a job which has parted from another one does not end with it. */
#include <mpi.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *program;
static int rank;

static void want(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

static MPI_Comm spawn(char *word)
{
    char *words[] = {"child", word, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

/* Is busy outside of MPI. */
static void compute(int seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (time_t until = now.tv_sec + seconds; now.tv_sec < until;)
        clock_gettime(CLOCK_MONOTONIC, &now);
}

static void rest(void)
{
    struct timespec time = {0, 10000000};
    nanosleep(&time, NULL);
}

static const char *value(const char *name)
{
    return getenv(name) ? getenv(name) : "none";
}

/* What it has of the options of the first job. */
static void inherits(void)
{
    MPI_Session session;
    char name[MPI_MAX_PSET_NAME_LEN];
    int *size, found, count, is_left = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &found);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int each = 0; each < count; each++) {
        int length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, each, &length, name);
        is_left |= strcmp(name, "left") == 0;
    }
    MPI_Session_finalize(&session);
    printf("colour %s, smell %s, universe %d, set %s\n", value("COLOUR"), value("SMELL"), found ? *size : -1,
           is_left ? "left" : "none");
}

static int child(const char *word)
{
    MPI_Comm parent;
    int number = 5, pid;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    if (strcmp(word, "computes") == 0) {
        compute(5);
        for (int to = 0; to < 2; to++)
            MPI_Send(&number, 1, MPI_INT, to, 1, parent);
    } else if (strcmp(word, "waits") == 0) {
        MPI_Recv(&number, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
    } else if (strcmp(word, "inherits") == 0) {
        inherits();
    } else {
        MPI_Recv(&pid, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
        while (kill(pid, 0) == 0 || errno != ESRCH)
            rest();
        if (strcmp(word, "lasts") == 0) {
            puts("the child goes on");
            fflush(stdout);
            for (;;)
                rest();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        puts("the child went on");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

/* All ranks wait for another job, which computes: by a process of it, by any, and by all. */
static void computes(void)
{
    MPI_Comm inter = spawn("computes");
    int number;
    MPI_Recv(&number, 1, MPI_INT, rank ? MPI_ANY_SOURCE : 0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&inter);
}

/* Tells its child that it parts from it, and then ends. */
static void parts(char *word)
{
    MPI_Comm inter = spawn(word);
    int pid = getpid();
    if (rank == 0)
        MPI_Send(&pid, 1, MPI_INT, 0, 1, inter);
    MPI_Comm_disconnect(&inter);
    /* All have. */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The error is of this class, and its text says this. */
static void says(int code, int expected, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != expected || !strstr(text, words))
        printf("`%s` should say `%s`\n", text, words);
    want(class == expected && strstr(text, words) != NULL, "an error");
    want((int)strlen(text) == length, "the length of the text");
}

static int spawned(const char *command, const char *key, const char *word, int count)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm inter;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, word);
    }
    int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (key)
        MPI_Info_free(&info);
    return code;
}

static int connected(const char *port, const char *seconds)
{
    MPI_Info info;
    MPI_Comm inter;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", seconds);
    int code = MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter);
    MPI_Info_free(&info);
    return code;
}

static void reasons(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* All ranks know what the root has found. */
    says(spawned("/nowhere/no-program", NULL, NULL, 1), MPI_ERR_SPAWN, "/nowhere/no-program was not found");
    says(spawned(program, "host", " ", 1), MPI_ERR_INFO_VALUE, "key host is empty");
    says(spawned(program, "path", "", 1), MPI_ERR_INFO_VALUE, "key path is empty");
    says(spawned(program, "ompi_non_mpi", "true", 1), MPI_ERR_SPAWN, "ompi_non_mpi");
    says(MPI_Comm_accept("garbage", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT, "MPI_Open_port gives one");
    says(MPI_Comm_connect("garbage", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT, "that is no port of this library");
    says(MPI_Comm_join(-1, &inter), MPI_ERR_ARG, "argument fd: ");
    says(MPI_Lookup_name("told: no such name", MPI_INFO_NULL, port), MPI_ERR_NAME, "`told: no such name` is not published");
    says(MPI_Unpublish_name("told: no such name", MPI_INFO_NULL, "x"), MPI_ERR_SERVICE, "`told: no such name`");
    MPI_Open_port(MPI_INFO_NULL, port);
    says(connected(port, "soon"), MPI_ERR_INFO_VALUE, "timeout is `soon`");
    says(connected(port, "1"), MPI_ERR_PORT, "within 1 s nobody accepted");
    /* Other calls have reasons of their own: what is kept is never an older one's. */
    says(MPI_Send(NULL, 0, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG, "MPI_ERR_TAG");
    MPI_Close_port(port);
}

static void crowd(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    says(spawned(program, NULL, NULL, 1000), MPI_ERR_SPAWN, "1000 ranks are more than");
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    program = argv[0];
    if (strcmp(word, "child") == 0)
        return child(argv[2]);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(word, "computes") == 0)
        computes();
    else if (strcmp(word, "reasons") == 0)
        reasons();
    else if (strcmp(word, "crowd") == 0)
        crowd();
    else if (strcmp(word, "cycle") == 0) {
        int number;
        MPI_Recv(&number, 1, MPI_INT, 0, 3, spawn("waits"), MPI_STATUS_IGNORE);
    } else if (strcmp(word, "inherits") == 0) {
        MPI_Comm inter = spawn("inherits");
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(word, "lasts") == 0) {
        parts("lasts");
    } else {
        parts("outlives");
        if (strcmp(word, "fails") == 0)
            raise(SIGKILL);
        MPI_Abort(MPI_COMM_WORLD, 6);
    }
    MPI_Finalize();
    if (rank == 0)
        puts("all is well");
    return 0;
}
