/*
 * What the sockets themselves cost on this machine: the yardstick for the rows over TCP. No MPI. Two processes over the
 * loopback (or, with --address, over another own address), TCP_NODELAY, either spinning on recv as a waiting MPI process
 * with a core of its own does, or with --block sleeping in it.
 *
 *   raw_tcp [-s size[,size]] [-r samples] [--block] [--pin] [--json] [--stream | --rate]
 *
 * --stream and --rate send a window of messages, one call each, closed by one byte back: bytes or messages per second.
 */
#include "raw.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define MEMORY (32 << 20)

static int blocking, stream, rate;

struct line {
    int fd, rank, window;
    size_t size;
    char *buffer;
};

static void put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k < 0 && errno != EINTR)
            raw_die("send");
        if (k > 0)
            p += k, n -= (size_t)k;
    }
}

static void get(int fd, char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = recv(fd, p, n, blocking ? 0 : MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR))
            raw_die("recv");
        if (k > 0)
            p += k, n -= (size_t)k;
    }
}

static void ping_pong(void *with, int iterations)
{
    struct line *l = with;
    for (int i = 0; i < iterations; i++) {
        if (l->rank == 0) {
            put(l->fd, l->buffer, l->size);
            get(l->fd, l->buffer, l->size);
        } else {
            get(l->fd, l->buffer, l->size);
            put(l->fd, l->buffer, l->size);
        }
    }
}

static void windows(void *with, int iterations)
{
    struct line *l = with;
    char mark = 0;
    for (int i = 0; i < iterations; i++) {
        for (int m = 0; m < l->window; m++) {
            if (l->rank == 0)
                put(l->fd, l->buffer + (size_t)m * l->size, l->size);
            else
                get(l->fd, l->buffer + (size_t)m * l->size, l->size);
        }
        if (l->rank == 0)
            get(l->fd, &mark, 1);
        else
            put(l->fd, &mark, 1);
    }
}

static int connected(struct raw *r)
{
    int one = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof to;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&to, sizeof to) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&to, &length) != 0)
        raw_die("raw_tcp: cannot listen");
    raw_fork(r);
    int fd = r->rank == 1 ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
    if (fd < 0 || (r->rank == 1 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0))
        raw_die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

int main(int argc, char **argv)
{
    struct raw r = {.o = {.program = "raw_tcp", .repetitions = 20, .chunk_us = 4000, .window = 64, .sizes = {8}, .size_count = 1}};
    r.o.flags[0] = (struct flag){"--block", "sleep in recv instead of spinning", &blocking};
    r.o.flags[1] = (struct flag){"--stream", "windows, bytes per second", &stream};
    r.o.flags[2] = (struct flag){"--rate", "windows, messages per second", &rate};
    raw_parse(&r, argc, argv);
    struct line l = {.fd = connected(&r), .rank = r.rank};
    for (int i = 0; i < r.o.size_count; i++) {
        int size = r.o.sizes[i], window = size > 0 && MEMORY / size < r.o.window ? MEMORY / size : r.o.window;
        l.size = (size_t)size, l.window = window > 0 ? window : 1;
        l.buffer = calloc((size_t)l.window, l.size + 1);
        if (size < 1 || l.buffer == NULL)
            raw_die("raw_tcp: sizes are at least 1");
        if (stream || rate)
            raw_measure(&r, windows, &l, size, rate ? PER_SECOND : BYTES_PER_SECOND, l.window, (double)l.window * size);
        else
            raw_measure(&r, ping_pong, &l, size, MICROSECONDS, 2, 2.0 * size);
        free(l.buffer);
    }
    return raw_finish(&r);
}
