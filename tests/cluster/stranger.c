/*
 * A user without a job looks at the processes of one: connects to each port of some addresses from which programs listen without asking
 * for a number, and to each abstract socket of this host. Where somebody answers, it says what no peer says: nothing, garbage, and
 * beginnings of messages of this library. Then it says how many answered, and how many of those sent something back.
 *
 *   stranger FIRST LAST ADDRESS...       FIRST and LAST are ports
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int answered, spoke;

static void speak(int one)
{
    static int round;
    static const char *const beginnings[] = {"", "GET / HTTP/1.1\r\n\r\n", "ompi-tcp", "ompi-oob", "\xff\xff\xff\x7f", "ompi"};
    unsigned char bytes[4096];
    const char *begin = beginnings[round++ % 6];
    struct pollfd ready = {.fd = one, .events = POLLIN};
    for (size_t at = 0; at < sizeof bytes; at++)
        bytes[at] = (unsigned char)(rand() >> 8);
    memcpy(bytes, begin, strlen(begin));
    if (*begin)
        (void)!send(one, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (*begin && poll(&ready, 1, 50) == 1 && recv(one, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        spoke++;
}

static int try(const struct sockaddr *there, socklen_t bytes, int type)
{
    int one = socket(there->sa_family, type, 0), connected = connect(one, there, bytes) == 0;
    if (connected)
        speak(one);
    close(one);
    return connected;
}

/* The abstract names of the sockets of this network namespace. */
static void sockets(void)
{
    char line[512];
    FILE *list = fopen("/proc/net/unix", "r");
    while (list && fgets(line, sizeof line, list)) {
        struct sockaddr_un there = {.sun_family = AF_UNIX};
        char *name = strchr(line, '@');
        if (!name)
            continue;
        size_t length = strcspn(++name, "\n");
        if (length >= sizeof there.sun_path)
            continue;
        memcpy(there.sun_path + 1, name, length);
        for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++)
            try((struct sockaddr *)&there, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length), type);
    }
    if (list)
        fclose(list);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    for (int host = 3; host < argc; host++) {
        for (int port = atoi(argv[1]); port <= atoi(argv[2]); port++) {
            struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
            if (inet_pton(AF_INET, argv[host], &there.sin_addr) != 1)
                return 2;
            /* Thrice, so that it hears more than one kind of nonsense. */
            if (try((struct sockaddr *)&there, sizeof there, SOCK_STREAM)) {
                answered++;
                try((struct sockaddr *)&there, sizeof there, SOCK_STREAM);
                try((struct sockaddr *)&there, sizeof there, SOCK_STREAM);
            }
        }
    }
    sockets();
    printf("%d ports answered, %d spoke\n", answered, spoke);
    return 0;
}
