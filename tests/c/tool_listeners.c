// covers: MPI_T_event_handle_alloc MPI_T_event_handle_free
// ranks: 1
/*
 * One thread ends the only registration for events while another one registers: whoever is registered after that hears of every
 * message, and nobody else does. MPI 5.0 section 15.3.8.
 */
#include "tool.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 20000 };

struct listener {
    MPI_T_event_registration registration;
    int heard, wrong;
};

static atomic_int arrived;
static int posted = -1;
static struct listener listeners[2];

static void hear(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)instance, (void)registration, (void)safety;
    ((struct listener *)data)->heard++;
}

static void begin(struct listener *own)
{
    MPI_Comm self = MPI_COMM_SELF;
    own->wrong += MPI_T_event_handle_alloc(posted, &self, MPI_INFO_NULL, &own->registration) != MPI_SUCCESS;
    own->wrong += MPI_T_event_register_callback(own->registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, own, hear) != MPI_SUCCESS;
}

static void end(struct listener *own)
{
    own->wrong += MPI_T_event_handle_free(own->registration, NULL, NULL) != MPI_SUCCESS;
}

/* Both go on in the same moment, now one and now the other a little later; `visit` counts from 1. */
static void meet(int visit, int pause)
{
    atomic_fetch_add(&arrived, 1);
    for (int spins = 0; atomic_load(&arrived) < 2 * visit; spins++)
        if (spins % 1000 == 999)
            sched_yield();
    for (volatile int i = 0; i < pause; i++)
        ;
}

/* The thread registers in even rounds and ends that in odd ones. */
static void *other(void *own)
{
    for (int round = 0; round < ROUNDS; round++) {
        meet(2 * round + 1, round % 61 * 8);
        round % 2 == 0 ? begin(own) : end(own);
        meet(2 * round + 2, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided = -1, deaf = 0, ghosts = 0;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    start(&argc, &argv, "tool_listeners");
    OK(MPI_T_event_get_index("pml_message_posted", &posted));
    begin(&listeners[0]);
    pthread_create(&thread, NULL, other, &listeners[1]);
    for (int round = 0; round < ROUNDS; round++) {
        int now = (round + 1) % 2, out = round, in = -1, before[2];
        meet(2 * round + 1, round % 53 * 8);
        round % 2 == 0 ? end(&listeners[0]) : begin(&listeners[0]);
        meet(2 * round + 2, 0);
        before[0] = listeners[0].heard, before[1] = listeners[1].heard;
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 3, &in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        /* Has nothing to say of its own. */
        MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF);
        deaf += listeners[now].heard != before[now] + 1;
        ghosts += listeners[1 - now].heard != before[1 - now] || in != out;
    }
    pthread_join(thread, NULL);
    CHECK_EQ(deaf, 0);
    CHECK_EQ(ghosts, 0);
    CHECK_EQ(listeners[0].wrong + listeners[1].wrong, 0);
    end(&listeners[0]);
    OK(MPI_T_finalize());
    return finish();
}
