/* What `cargo xtask test dynamic` runs: many jobs, from many ranks, threads and sessions, and from a process that nobody launched;
 * names between jobs; process sets. */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *program;

static void want(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

static MPI_Comm spawn(MPI_Comm comm, char *word, int children)
{
    char *words[] = {"child", word, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, children, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

/* A number to child 0 and its successor back; then both part. */
static void talk(MPI_Comm inter, int number)
{
    int rank, got = 0;
    MPI_Comm_rank(inter, &rank);
    if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 0, 1, inter);
        MPI_Recv(&got, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
        want(got == number + 1, "the child's answer");
    }
    MPI_Comm_disconnect(&inter);
}

static int child(const char *word)
{
    MPI_Comm parent;
    int rank, number;
    if (strcmp(word, "half-dies") == 0 && strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1") == 0)
        raise(SIGKILL);
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        if (strcmp(word, "fails") == 0)
            exit(3);
        if (strcmp(word, "stays") == 0) {
            puts("the child stays");
            fflush(stdout);
            for (;;)
                pause();
        }
        number++;
        MPI_Send(&number, 1, MPI_INT, 0, 2, parent);
    }
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static int entries(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    want(directory != NULL, folder);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static long memory_kib(void)
{
    long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %ld", &kib);
    fclose(file);
    return kib;
}

static int parent_of(int pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    want(file && fgets(text, sizeof text, file), "the launcher's state");
    fclose(file);
    sscanf(strrchr(text, ')') + 1, " %*c %d", &parent);
    return parent;
}

/* Descriptors and children of the mpirun above, which may be a moment behind. */
static void launcher_is_as_before(int *before)
{
    char descriptors[64], tasks[64];
    int pid = parent_of(atoi(getenv("OMPI_RS_LAUNCHER"))), now = 0;
    snprintf(descriptors, sizeof descriptors, "/proc/%d/fd", pid);
    snprintf(tasks, sizeof tasks, "/proc/%d/task", pid);
    want(entries(tasks) == 3, "mpirun has one thread");
    if (*before == 0) {
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        *before = entries(descriptors);
        return;
    }
    for (int tries = 0; tries < 1000 && (now = entries(descriptors)) > *before; tries++) {
        struct timespec moment = {0, 10000000};
        nanosleep(&moment, NULL);
    }
    if (now > *before)
        printf("mpirun has %d descriptors, before %d\n", now, *before);
    want(now <= *before, "mpirun's descriptors");
}

static void soak(int times)
{
    int own = 0, launcher = 0;
    long kib = 0;
    for (int i = 0; i < times; i++) {
        if (i == 10) {
            launcher_is_as_before(&launcher);
            own = entries("/proc/self/fd");
            kib = memory_kib();
        }
        talk(spawn(MPI_COMM_WORLD, "once", 1), i);
    }
    want(entries("/proc/self/fd") == own, "own descriptors");
    launcher_is_as_before(&launcher);
    long more = memory_kib() - kib;
    printf("%ld KiB more after %d jobs\n", more, times);
    want(more <= 64, "memory");
}

static void *thread(void *comm)
{
    for (int i = 0; i < 4; i++)
        talk(spawn(*(MPI_Comm *)comm, "once", 1 + i % 2), i);
    return NULL;
}

static void threads(void)
{
    MPI_Comm comms[2];
    pthread_t ids[2];
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&ids[i], NULL, thread, &comms[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
}

/* A child that dies while another one is in MPI_Init: an error of the call, and the next one works. */
static void half_dies(void)
{
    char *words[] = {"child", "half-dies", NULL};
    int codes[2] = {0, 0}, class = 0;
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Error_class(code, &class);
    want(class == MPI_ERR_SPAWN && inter == MPI_COMM_NULL, "the class of the error");
    want(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN, "the codes");
    talk(spawn(MPI_COMM_WORLD, "once", 1), 5);
    /* An intercommunicator accepts nobody. */
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm there = spawn(MPI_COMM_WORLD, "once", 1);
    MPI_Comm_set_errhandler(there, MPI_ERRORS_RETURN);
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Error_class(MPI_Comm_accept(port, MPI_INFO_NULL, 0, there, &inter), &class);
    want(class == MPI_ERR_COMM, "accept on an intercommunicator");
    MPI_Close_port(port);
    talk(there, 6);
}

/* MPI by a session only; it may have further jobs as well. */
static int session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm self;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "robust", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
    MPI_Group_free(&group);
    talk(spawn(self, "once", 2), 1);
    talk(spawn(self, "once", 1), 2);
    MPI_Comm_free(&self);
    MPI_Session_finalize(&session);
    puts("all is well");
    return 0;
}

/* One of two jobs that know of each other by a name. */
static void named(int serves, const char *name)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    int number = 7, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (serves) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Publish_name(name, MPI_INFO_NULL, port);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        if (rank == 0) {
            MPI_Recv(&number, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
            MPI_Unpublish_name(name, MPI_INFO_NULL, port);
            MPI_Close_port(port);
            number++;
            MPI_Send(&number, 1, MPI_INT, 0, 2, inter);
        }
        MPI_Comm_disconnect(&inter);
        return;
    }
    int class = MPI_ERR_NAME;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int tries = 0; tries < 3000 && class == MPI_ERR_NAME; tries++) {
        struct timespec moment = {0, 10000000};
        MPI_Error_class(MPI_Lookup_name(name, MPI_INFO_NULL, port), &class);
        if (class == MPI_ERR_NAME)
            nanosleep(&moment, NULL);
    }
    want(class == MPI_SUCCESS, "the name of another job");
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, number);
    MPI_Error_class(MPI_Lookup_name(name, MPI_INFO_NULL, port), &class);
    want(class == MPI_ERR_NAME, "a name that was withdrawn");
}

/* Opens a port, writes it down, and takes so many calls at it, one after the other. */
static void door(const char *path, int calls)
{
    char port[MPI_MAX_PORT_NAME], new[4096];
    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(new, sizeof new, "%s.new", path);
    FILE *file = fopen(new, "w");
    want(file && fputs(port, file) >= 0 && fclose(file) == 0 && rename(new, path) == 0, path);
    for (; calls > 0; calls--) {
        MPI_Comm inter;
        int number;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        MPI_Recv(&number, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        number++;
        MPI_Send(&number, 1, MPI_INT, 0, 2, inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Close_port(port);
}

/* Calls at it. Without mpirun nothing hinders that: it is stopped meanwhile, and hears of it when it goes on. */
static void knock(const char *path, int stops)
{
    char port[MPI_MAX_PORT_NAME];
    FILE *file = fopen(path, "r");
    MPI_Comm inter;
    int launcher = stops ? parent_of(atoi(getenv("OMPI_RS_LAUNCHER"))) : 0;
    want(file && fgets(port, sizeof port, file), path);
    fclose(file);
    if (stops)
        kill(launcher, SIGSTOP);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, 3);
    if (stops)
        kill(launcher, SIGCONT);
}

static int has_set(MPI_Session session, const char *name)
{
    int count = 0, found = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 0; i < count; i++) {
        char text[MPI_MAX_PSET_NAME_LEN];
        int room = sizeof text;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, text);
        found += strcmp(text, name) == 0;
    }
    return found;
}

/* With `mpirun -n 2 --pset left:0,2 … : -n 1 --pset late …`. */
static void process_sets(void)
{
    struct {
        const char *name;
        int size, in[3];
    } sets[] = {{"mpi://WORLD", 3, {1, 1, 1}}, {"mpi://SHARED", 3, {1, 1, 1}}, {"mpix://APP/0", 2, {1, 1, 0}},
                {"mpix://APP/1", 1, {0, 0, 1}}, {"left", 2, {1, 0, 1}}, {"late", 1, {0, 0, 1}}};
    int rank, size, value, flag;
    MPI_Session session;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        MPI_Group group;
        MPI_Info info;
        char text[16] = "";
        want(has_set(session, sets[i].name) == sets[i].in[rank], sets[i].name);
        MPI_Session_get_pset_info(session, sets[i].name, &info);
        value = sizeof text;
        MPI_Info_get_string(info, "mpi_size", &value, text, &flag);
        want(flag && atoi(text) == sets[i].size, "mpi_size");
        MPI_Info_free(&info);
        MPI_Group_from_session_pset(session, sets[i].name, &group);
        MPI_Group_size(group, &size);
        want(size == sets[i].size, "the group's size");
        if (sets[i].in[rank]) {
            MPI_Comm comm;
            MPI_Comm_create_from_group(group, sets[i].name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
            MPI_Barrier(comm);
            MPI_Comm_free(&comm);
        }
        MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int rank, level;
    program = argv[0];
    if (strcmp(word, "child") == 0)
        return child(argv[2]);
    if (strcmp(word, "session") == 0)
        return session();
    MPI_Init_thread(NULL, NULL, strcmp(word, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(word, "soak") == 0)
        soak(atoi(argv[2]));
    else if (strcmp(word, "at-once") == 0)
        talk(spawn(MPI_COMM_SELF, "once", 1), rank);
    else if (strcmp(word, "threads") == 0)
        threads();
    else if (strcmp(word, "half-dies") == 0)
        half_dies();
    else if (strcmp(word, "serve") == 0 || strcmp(word, "ask") == 0)
        named(word[0] == 's', argv[2]);
    else if (strcmp(word, "ask-once") == 0)
        MPI_Lookup_name(argv[2], MPI_INFO_NULL, (char[MPI_MAX_PORT_NAME]){0});
    else if (strcmp(word, "door") == 0)
        door(argv[2], atoi(argv[3]));
    else if (strcmp(word, "knock") == 0)
        knock(argv[2], argc > 3);
    else if (strcmp(word, "sets") == 0)
        process_sets();
    else if (strcmp(word, "alone") == 0)
        for (int i = 0; i < 3; i++)
            talk(spawn(MPI_COMM_WORLD, "once", 1 + i), i);
    else if (strcmp(word, "child-fails") == 0)
        talk(spawn(MPI_COMM_WORLD, "fails", 1), 1);
    else if (strcmp(word, "child-stays") == 0)
        talk(spawn(MPI_COMM_WORLD, "stays", 1), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        puts("all is well");
    return 0;
}
