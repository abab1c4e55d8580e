// covers: MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Comm_get_parent MPI_Comm_disconnect
// ranks: 1 2 3
// seconds: 120
/*
 * Processes that start others, which are this program again: what children learn, messages of all lengths between both jobs,
 * merged communicators, grandchildren, several programs, errors and their codes (MPI 5.0 section 11.8).
 */
#include "check.h"
#include <sys/utsname.h>
#include <unistd.h>

static char *program;

/* Groups of one size send all to all; then both merge and reduce. */
static void talk(MPI_Comm inter, int high)
{
    int here, there, rank, i, sum = 0;
    MPI_Comm merged;
    MPI_Comm_size(inter, &here);
    MPI_Comm_remote_size(inter, &there);
    MPI_Comm_rank(inter, &rank);
    for (i = 0; i < there; i++) {
        static const int lengths[] = {0, 8, 56, 57, 4096, 70000, 3 << 20};
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int n = lengths[l];
            unsigned char *out = malloc(n + 1), *in = malloc(n + 1);
            MPI_Status status;
            for (int k = 0; k < n; k++)
                out[k] = (unsigned char)(k * 7 + rank + (high ? 100 : 0));
            memset(in, 0xee, n + 1);
            MPI_Request requests[2];
            int to = (rank + i) % there, from = (rank + there - i) % there;
            if (here == there) {
                int got;
                MPI_Irecv(in, n + 1, MPI_BYTE, from, 5, inter, &requests[0]);
                MPI_Isend(out, n, MPI_BYTE, to, 5, inter, &requests[1]);
                MPI_Wait(&requests[0], &status);
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
                MPI_Get_count(&status, MPI_BYTE, &got);
                CHECK_EQ(got, n);
                for (int k = 0; k < n; k++)
                    if (in[k] != (unsigned char)(k * 7 + from + (high ? 0 : 100))) {
                        CHECK_MSG(0, "byte %d of %d is wrong", k, n);
                        break;
                    }
                CHECK_EQ(in[n], 0xee);
            }
            free(out);
            free(in);
        }
    }
    int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, there);
    MPI_Intercomm_merge(inter, high, &merged);
    int size, place;
    MPI_Comm_size(merged, &size);
    MPI_Comm_rank(merged, &place);
    CHECK_EQ(size, here + there);
    CHECK_EQ(place, high ? there + rank : rank);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(sum, size * (size - 1) / 2);
    MPI_Comm dup;
    MPI_Comm_dup(merged, &dup);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&merged);
}

static int child(MPI_Comm parent, int argc, char **argv)
{
    int size;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(parent, name, &length);
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "wdir") == 0) {
        char here[4096];
        CHECK(getcwd(here, sizeof here) && strcmp(here, "/") == 0);
    }
    if (argc > 1 && strcmp(argv[1], "multiple") == 0) {
        int *number, found;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
        CHECK(found && argc == 3 && *number == atoi(argv[2]));
    }
    if (argc > 1 && strcmp(argv[1], "env") == 0) {
        const char *text = getenv("SPAWN_TEXT"), *number = getenv("SPAWN_NUMBER");
        CHECK(text && strcmp(text, "a b=c") == 0);
        CHECK(number && strcmp(number, "2") == 0);
    }
    if (argc > 1 && strcmp(argv[1], "colon") == 0)
        CHECK(argc == 5 && strcmp(argv[2], ":") == 0 && strcmp(argv[3], "") == 0 && strcmp(argv[4], "::") == 0);
    if (argc > 1 && strcmp(argv[1], "returns") == 0) {
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        CHECK(handler == MPI_ERRORS_RETURN);
        MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
        CHECK(handler == MPI_ERRORS_RETURN);
    }
    if (argc > 1 && strcmp(argv[1], "again") == 0) {
        /* A grandchild, whose parents this job is. */
        char *words[] = {"leaf", NULL};
        MPI_Comm leaf;
        MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &leaf, MPI_ERRCODES_IGNORE);
        talk(leaf, 0);
        MPI_Comm_disconnect(&leaf);
    }
    talk(parent, 1);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Finalize();
    return check_failures != 0;
}

static void spawn_words(int children, char **words, MPI_Info info, int want)
{
    int codes[8];
    MPI_Comm inter;
    for (int i = 0; i < 8; i++)
        codes[i] = -77;
    int code = MPI_Comm_spawn(program, words, children, info, check_ranks - 1, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQ(code, MPI_SUCCESS);
    int there;
    MPI_Comm_remote_size(inter, &there);
    CHECK_EQ(there, want);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(codes[i], i < want ? MPI_SUCCESS : i < children ? MPI_ERR_SPAWN : -77);
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
    CHECK(inter == MPI_COMM_NULL);
}

static void spawn(int children, char *word, MPI_Info info, int want)
{
    char *words[] = {word, NULL};
    spawn_words(children, word ? words : MPI_ARGV_NULL, info, want);
}

static void refused(char *command, MPI_Info info, int children, int want);

/* Keys of the info, the standard's and Open MPI's. */
static void keys(void)
{
    char file[] = "/tmp/dynamic_spawn.XXXXXX", *colons[] = {"colon", ":", "", "::", NULL};
    MPI_Info info;
    struct utsname machine;
    spawn_words(1, colons, MPI_INFO_NULL, 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "env", "SPAWN_TEXT=a b=c\nSPAWN_NUMBER=2");
    MPI_Info_set(info, "map_by", "core");
    MPI_Info_set(info, "pernode", "true");
    spawn(1, "env", info, 1);
    MPI_Info_free(&info);
    int open = mkstemp(file);
    static const char options[] = "-x SPAWN_TEXT='a b=c' -x SPAWN_NUMBER=2\n";
    CHECK(open >= 0 && write(open, options, sizeof options - 1) == (ssize_t)(sizeof options - 1));
    close(open);
    MPI_Info_create(&info);
    MPI_Info_set(info, "file", file);
    spawn(2, "env", info, 2);
    unlink(file);
    CHECK(lseek((open = mkstemp(strcpy(file, "/tmp/dynamic_spawn.XXXXXX"))), 0, SEEK_SET) == 0);
    CHECK(write(open, "localhost slots=2\n", 18) == 18);
    close(open);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    MPI_Info_set(info, "hostfile", file);
    MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return");
    spawn(2, "returns", info, 2);
    unlink(file);
    MPI_Info_set(info, "hostfile", "/nowhere/hosts");
    refused(program, info, 1, MPI_ERR_SPAWN);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    MPI_Info_set(info, "arch", "vax");
    refused(program, info, 1, MPI_ERR_SPAWN);
    uname(&machine);
    MPI_Info_set(info, "arch", machine.machine);
    spawn(1, NULL, info, 1);
    MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_hide");
    refused(program, info, 1, MPI_ERR_SPAWN);
    MPI_Info_free(&info);
}

static void refused(char *command, MPI_Info info, int children, int want)
{
    int codes[2] = {-77, -77}, class;
    MPI_Comm inter;
    int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, children, info, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, want);
    CHECK(inter == MPI_COMM_NULL);
    if (want == MPI_ERR_SPAWN)
        for (int i = 0; i < children; i++)
            CHECK_EQ(codes[i], MPI_ERR_SPAWN);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 0;
    program = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    check_name = "dynamic_spawn";
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return child(parent, argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    spawn(1, NULL, MPI_INFO_NULL, 1);
    spawn(check_ranks, NULL, MPI_INFO_NULL, check_ranks);
    spawn(2, "again", MPI_INFO_NULL, 2);
    keys();
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", "/");
    MPI_Info_set(info, "soft", "1:3:2");
    spawn(4, "wdir", info, 3);
    MPI_Info_set(info, "soft", "5:9");
    refused(program, info, 2, MPI_ERR_SPAWN);
    MPI_Info_free(&info);

    refused("/nowhere/no-such-program", MPI_INFO_NULL, 2, MPI_ERR_SPAWN);
    refused(program, MPI_INFO_NULL, 0, MPI_ERR_ARG);
    char *words[] = {"exit", NULL};
    MPI_Comm inter;
    int class, code = MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_SPAWN);

    char *first[] = {"multiple", "0", NULL}, *second[] = {"multiple", "1", NULL};
    char *commands[] = {program, program}, **argvs[] = {first, second};
    int counts[] = {1, 2}, codes[3] = {-1, -1, -1}, there;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    code = MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK_EQ(code, MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &there);
    CHECK_EQ(there, 3);
    CHECK(codes[0] == 0 && codes[1] == 0 && codes[2] == 0);
    talk(inter, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    if (check_rank == 0 && !check_failures)
        puts("ok dynamic_spawn");
    return check_failures != 0;
}
