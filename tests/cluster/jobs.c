/*
 * Jobs on several hosts that meet: further ones of each other, and two that the user started.
 *
 *   jobs spawn N KEY VALUE …   N children with these info keys; messages of all lengths with each, then the children's child
 *   jobs serve NAME [FILE]     a port under a name, and in a file if one is named: two callers, one after the other
 *   jobs call NAME [FILE]      calls it by the name, or by what the file holds
 *   jobs dies KEY VALUE …      a child is killed while its parents wait for it
 *   jobs parts KEY VALUE …     a child fails after both have parted
 *   jobs own KEY VALUE …       says which error MPI_Comm_spawn raises
 *   jobs never KEY VALUE …     the same for a program that does not call MPI_Init
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char host[MPI_MAX_PROCESSOR_NAME];

static void wrong(const char *what)
{
    fprintf(stderr, "wrong on %s, rank %d: %s\n", host, rank, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void fill(unsigned char *at, int n, int seed)
{
    for (int i = 0; i < n; i++)
        at[i] = (unsigned char)(i * 7 + seed);
}

/* Every process with every one of the other group, over all protocols. */
static void talk(MPI_Comm inter, int is_child)
{
    static const int lengths[] = {0, 8, 1000, 70000, 3 << 20};
    int there, sum = 0, one = 1;
    MPI_Comm merged;
    MPI_Comm_remote_size(inter, &there);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        int n = lengths[l];
        unsigned char *out = malloc(n + 1), *in = malloc(n + 1), *want = malloc(n + 1);
        for (int i = 0; i < there; i++) {
            MPI_Request both[2];
            fill(out, n, rank * 16 + i + 128 * is_child);
            fill(want, n, i * 16 + rank + 128 * !is_child);
            MPI_Irecv(in, n, MPI_BYTE, i, 5, inter, &both[0]);
            MPI_Isend(out, n, MPI_BYTE, i, 5, inter, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
            if (memcmp(in, want, n) != 0)
                wrong("a message between jobs");
        }
        free(out);
        free(in);
        free(want);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    if (sum != there)
        wrong("the sum of the other group");
    MPI_Intercomm_merge(inter, is_child, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    if (sum != there + size)
        wrong("the sum of both groups");
    MPI_Comm_free(&merged);
}

static MPI_Info keys(int argc, char **argv)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i + 1 < argc; i += 2)
        MPI_Info_set(info, argv[i], argv[i + 1]);
    return info;
}

static int spawn(const char *program, int n, MPI_Info info, const char *what, MPI_Comm *inter)
{
    char *arguments[] = {(char *)what, NULL};
    return MPI_Comm_spawn(program, arguments, n, info, size - 1, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE);
}

static void child(MPI_Comm parent, const char *program, const char *what)
{
    MPI_Comm inter;
    printf("child %d of %d on %s\n", rank, size, host);
    fflush(stdout);
    if (strcmp(what, "dies") == 0 && rank == 0) {
        MPI_Barrier(parent);
        raise(SIGKILL);
    }
    if (strcmp(what, "dies") == 0)
        MPI_Barrier(parent);
    if (strcmp(what, "parts") == 0) {
        MPI_Comm_disconnect(&parent);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (strcmp(what, "spawn") == 0) {
        talk(parent, 1);
        if (spawn(program, 1, MPI_INFO_NULL, "grandchild", &inter) != MPI_SUCCESS)
            wrong("a child's spawn");
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
    if (strcmp(what, "grandchild") == 0)
        talk(parent, 1);
    MPI_Comm_disconnect(&parent);
}

static void serve(const char *name, const char *file)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int root = size - 1;
    if (rank == root) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
        if (file) {
            char aside[4096];
            FILE *to;
            snprintf(aside, sizeof aside, "%s.new", file);
            to = fopen(aside, "w");
            if (!to || fputs(port, to) < 0 || fclose(to) != 0 || rename(aside, file) != 0)
                wrong("the file of the port");
        }
        fprintf(stderr, "published\n");
    }
    for (int i = 0; i < 2; i++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == root) {
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void call(const char *name, const char *file)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == size - 1) {
        if (file) {
            FILE *from = fopen(file, "r");
            if (!from || !fgets(port, sizeof port, from))
                wrong("the file of the port");
            fclose(from);
        } else {
            MPI_Lookup_name(name, MPI_INFO_NULL, port);
        }
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
    talk(inter, 1);
    MPI_Comm_disconnect(&inter);
    printf("called from %s\n", host);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int length;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argv[0], what);
    } else if (strcmp(what, "spawn") == 0) {
        MPI_Info info = keys(argc - 3, argv + 3);
        for (int i = 0; i < 2; i++) {
            spawn(argv[0], atoi(argv[2]), info, "spawn", &inter);
            talk(inter, 0);
            MPI_Comm_disconnect(&inter);
        }
        printf("parent %d of %d on %s\n", rank, size, host);
    } else if (strcmp(what, "serve") == 0) {
        serve(argv[2], argc > 3 ? argv[3] : NULL);
    } else if (strcmp(what, "call") == 0) {
        call(argv[2], argc > 3 ? argv[3] : NULL);
    } else if (strcmp(what, "dies") == 0) {
        int got;
        spawn(argv[0], 1, keys(argc - 2, argv + 2), "dies", &inter);
        MPI_Barrier(inter);
        MPI_Recv(&got, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE);
        wrong("a message of a dead process");
    } else if (strcmp(what, "parts") == 0) {
        spawn(argv[0], 1, keys(argc - 2, argv + 2), "parts", &inter);
        MPI_Comm_disconnect(&inter);
        sleep(2);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("parent %d of %d did not mind\n", rank, size);
    } else if (strcmp(what, "own") == 0 || strcmp(what, "never") == 0) {
        char text[MPI_MAX_ERROR_STRING];
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = spawn(strcmp(what, "never") == 0 ? "/bin/true" : argv[0], 1, keys(argc - 2, argv + 2), "own", &inter);
        MPI_Error_string(code, text, &length);
        printf("spawned with %s\n", text);
        if (code == MPI_SUCCESS)
            MPI_Comm_disconnect(&inter);
    }
    MPI_Finalize();
    return 0;
}
