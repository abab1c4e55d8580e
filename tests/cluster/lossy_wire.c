/*
 * A wire between two network namespaces that loses frames and delivers the others late, as a seed says: for links.sh, since not each
 * kernel has netem.
 *
 *   lossy_wire NAMESPACE NEAR FAR SEED LOSS_PER_MILLE DELAY_US JITTER_US
 *
 * Makes the TAP interfaces NEAR here and FAR in the namespace (a file below /run/netns), then forwards frames between them until it is
 * killed. Each frame waits DELAY_US and up to JITTER_US more; frames overtake each other. Says `ready` when both are there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_BYTES = 2048, PLACES = 8192 };

struct frame {
    int64_t due_us; /* 0: the place is free */
    int to;
    int bytes;
    char data[FRAME_BYTES];
};

static struct frame held[PLACES];
static uint64_t state;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t roll(uint64_t sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % sides;
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int tap(const char *name)
{
    int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    struct ifreq wanted = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(wanted.ifr_name, name, IFNAMSIZ - 1);
    if (end < 0 || ioctl(end, TUNSETIFF, &wanted) < 0)
        give_up(name);
    return end;
}

/* One frame of this end, if there is one: it is lost, or held. A full wire loses, too. */
static int take(int from, int to, int loss, int delay_us, int jitter_us)
{
    static int next;
    static struct frame lost;
    struct frame *place = &lost;
    for (int tried = 0; tried < PLACES && place == &lost; tried++) {
        if (held[next].due_us == 0)
            place = &held[next];
        next = (next + 1) % PLACES;
    }
    place->bytes = (int)read(from, place->data, FRAME_BYTES);
    if (place->bytes <= 0)
        return 0;
    int64_t late_us = delay_us + (jitter_us > 0 ? (int64_t)roll((uint64_t)jitter_us) : 0);
    if (place != &lost && (int)roll(1000) >= loss) {
        place->due_us = now_us() + late_us;
        place->to = to;
    }
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        fprintf(stderr, "usage: lossy_wire NAMESPACE NEAR FAR SEED LOSS_PER_MILLE DELAY_US JITTER_US\n");
        return 2;
    }
    int loss = atoi(argv[5]), delay_us = atoi(argv[6]), jitter_us = atoi(argv[7]);
    state = strtoull(argv[4], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    int near = tap(argv[2]), far_away = open(argv[1], O_RDONLY);
    if (far_away < 0 || setns(far_away, CLONE_NEWNET) < 0)
        give_up(argv[1]);
    int far = tap(argv[3]);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        int64_t now = now_us(), next = now + 1000;
        for (int at = 0; at < PLACES; at++) {
            struct frame *frame = &held[at];
            if (frame->due_us == 0)
                continue;
            if (frame->due_us <= now) {
                /* What the system does not take is lost, as on any wire. */
                if (write(frame->to, frame->data, (size_t)frame->bytes) < 0)
                    frame->bytes = 0;
                frame->due_us = 0;
            } else if (frame->due_us < next) {
                next = frame->due_us;
            }
        }
        struct pollfd ends[2] = {{.fd = near, .events = POLLIN}, {.fd = far, .events = POLLIN}};
        struct timespec wait = {.tv_nsec = (next - now) * 1000};
        if (ppoll(ends, 2, &wait, NULL) <= 0)
            continue;
        for (int burst = 0; burst < 64 && take(near, far, loss, delay_us, jitter_us); burst++)
            continue;
        for (int burst = 0; burst < 64 && take(far, near, loss, delay_us, jitter_us); burst++)
            continue;
    }
}
