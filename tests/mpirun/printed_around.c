/* Prints before and after MPI_Init, by several ways, and is killed: every line must arrive, in this order. Its argument says whether
 * standard output is a terminal or a pipe after MPI_Init. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void out(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        abort();
}

int main(int argc, char **argv)
{
    int is_terminal = !strcmp(argv[1], "terminal");
    int is_used = strcmp(argv[2], "unused");
    int lines = atoi(argv[3]);
    if (!isatty(1))
        return 3;
    if (is_used)
        printf("one\n");
    else
        out("one\n");
    for (int i = 0; i < lines; i++)
        out("............... before ................\n");
    out("two ");
    if (is_used) {
        printf("and ");
        fflush(stdout);
        printf("a ");
    }
    MPI_Init(&argc, &argv);
    if (isatty(1) != is_terminal)
        return 4;
    printf("half\n");
    out("three\n");
    for (int i = 0; i < lines; i++)
        printf("............... after ................\n");
    printf("four\n");
    raise(SIGKILL);
    return 5;
}
