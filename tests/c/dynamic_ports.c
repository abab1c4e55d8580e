// covers: MPI_Open_port MPI_Close_port MPI_Comm_accept MPI_Comm_connect MPI_Publish_name MPI_Unpublish_name MPI_Lookup_name MPI_Comm_join
// ranks: 2 3 4
// seconds: 120
/*
 * Ports: two halves of a job, and two jobs that know of each other by a name; two clients at one port; errors; a socket of the
 * program's own (MPI 5.0 sections 11.9 and 11.10.5).
 */
#include "check.h"
#include <sys/socket.h>
#include <unistd.h>

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Each side sends its number and gets the other's. */
static void greet(MPI_Comm inter, int mine, int want)
{
    int rank, got = -1;
    MPI_Comm_rank(inter, &rank);
    if (rank == 0) {
        MPI_Sendrecv(&mine, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
        if (want >= 0)
            CHECK_EQ(got, want);
    }
    MPI_Barrier(inter);
}

/* The even ranks of the job serve the odd ones, again and again over one port. */
static void halves(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int serves = check_rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, serves, 0, &half);
    if (check_rank == 0)
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        int there;
        if (serves)
            CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
        MPI_Comm_remote_size(inter, &there);
        CHECK_EQ(there, serves ? check_ranks / 2 : (check_ranks + 1) / 2);
        greet(inter, serves, !serves);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (!serves)
        CHECK_EQ(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter)), MPI_ERR_PORT);
    else
        CHECK_EQ(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter)), MPI_ERR_PORT);
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&half);
}

/* Two children find rank 0 by a name and come one after the other. */
static void server(char *program)
{
    char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    MPI_Comm children, inter;
    char *words[] = {"client", NULL};
    /* A text that MPI_Lookup_name would have to cut. */
    char longest[MPI_MAX_PORT_NAME + 1] = "";
    memset(longest, 'x', MPI_MAX_PORT_NAME);
    CHECK_EQ(class_of(MPI_Publish_name("too long", MPI_INFO_NULL, longest)), MPI_ERR_PORT);
    longest[MPI_MAX_PORT_NAME - 1] = 0;
    CHECK_EQ(MPI_Publish_name("longest", MPI_INFO_NULL, longest), MPI_SUCCESS);
    CHECK_EQ(MPI_Lookup_name("longest", MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(strcmp(longest, found) == 0);
    CHECK_EQ(MPI_Unpublish_name("longest", MPI_INFO_NULL, longest), MPI_SUCCESS);
    MPI_Open_port(MPI_INFO_NULL, port);
    CHECK_EQ(MPI_Publish_name("dynamic_ports", MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Publish_name("dynamic_ports", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
    CHECK_EQ(MPI_Lookup_name("dynamic_ports", MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(strcmp(port, found) == 0);
    CHECK_EQ(class_of(MPI_Lookup_name("nobody", MPI_INFO_NULL, found)), MPI_ERR_NAME);
    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
        greet(inter, 40, -1);
        MPI_Comm_disconnect(&inter);
    }
    CHECK_EQ(MPI_Unpublish_name("dynamic_ports", MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Unpublish_name("dynamic_ports", MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
    MPI_Close_port(port);
    CHECK_EQ(class_of(MPI_Close_port(port)), MPI_ERR_PORT);
    MPI_Comm_disconnect(&children);
}

static int client(MPI_Comm parent)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    CHECK_EQ(MPI_Lookup_name("dynamic_ports", MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    greet(inter, check_rank, 40);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return check_failures != 0;
}

/* Ranks 0 and 1 have a socket in common: rank 0 makes it, and rank 1 opens an abstract name. */
static void join(void)
{
    MPI_Comm inter;
    if (check_rank > 1)
        return;
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK_EQ(class_of(MPI_Comm_join(ends[0], &inter)), MPI_ERR_ARG);
    close(ends[0]);
    close(ends[1]);
    CHECK_EQ(class_of(MPI_Comm_join(-1, &inter)), MPI_ERR_ARG);
    struct { sa_family_t family; char name[32]; } address = {AF_UNIX, {0}};
    int number = (int)getpid(), made = socket(AF_UNIX, SOCK_STREAM, 0), socket_of_both;
    if (check_rank == 0) {
        snprintf(address.name + 1, sizeof address.name - 1, "dynamic_ports-%d", number);
        CHECK(bind(made, (struct sockaddr *)&address, sizeof address) == 0 && listen(made, 1) == 0);
        MPI_Send(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        socket_of_both = accept(made, NULL, NULL);
        close(made);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        snprintf(address.name + 1, sizeof address.name - 1, "dynamic_ports-%d", number);
        CHECK(connect(made, (struct sockaddr *)&address, sizeof address) == 0);
        socket_of_both = made;
    }
    CHECK_EQ(MPI_Comm_join(socket_of_both, &inter), MPI_SUCCESS);
    greet(inter, 70 + check_rank, 71 - check_rank);
    MPI_Comm_disconnect(&inter);
    /* The socket is the program's as before. */
    char byte = (char)check_rank, got = 9;
    CHECK(write(socket_of_both, &byte, 1) == 1 && read(socket_of_both, &got, 1) == 1);
    CHECK_EQ(got, 1 - check_rank);
    close(socket_of_both);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    check_name = "dynamic_ports";
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return client(parent);
    halves();
    if (check_rank == 0)
        server(argv[0]);
    join();
    MPI_Comm inter;
    CHECK_EQ(class_of(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (check_rank == 0 && !check_failures)
        puts("ok dynamic_ports");
    return check_failures != 0;
}
