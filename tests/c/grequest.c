// covers: MPI_Grequest_start MPI_Grequest_complete MPI_Cancel MPI_Status_set_elements MPI_Status_set_cancelled MPI_Request_get_status
/*
 * Generalized requests, MPI 5.0 section 13.2: the three callbacks are called when the standard says, with the state that
 * was given, may call MPI, and their error codes come back from the call that ran them.
 */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

struct work {
    int queries, frees, cancels, told, count, query_code, free_code, cancelled;
};

static int query(void *extra, MPI_Status *s)
{
    struct work *w = extra;
    int got = -1, mine = 100 + w->queries++;
    MPI_Request q; /* callbacks may call MPI, and wait in it */
    MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q);
    MPI_Send(&mine, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(got, mine);
    MPI_Status_set_elements(s, MPI_INT, w->count);
    MPI_Status_set_cancelled(s, w->cancelled);
    s->MPI_SOURCE = 17;
    s->MPI_TAG = 23;
    return w->query_code;
}

static int release(void *extra)
{
    struct work *w = extra;
    w->frees++;
    return w->free_code;
}

static int cancel(void *extra, int complete)
{
    struct work *w = extra;
    w->cancels++;
    w->told = complete;
    w->cancelled = !complete;
    return MPI_SUCCESS;
}

static int refuse(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_ERR_OTHER;
}

static void life(void)
{
    struct work w = {.count = 5};
    MPI_Request q, copy;
    MPI_Status s;
    int flag = -1, count = -1;
    MPI_Grequest_start(query, release, cancel, &w, &q);
    CHECK(q != MPI_REQUEST_NULL);
    copy = q;
    MPI_Test(&q, &flag, &s);
    CHECK(!flag && q == copy && w.queries == 0);
    MPI_Grequest_complete(q);
    CHECK(w.queries == 0 && w.frees == 0);
    MPI_Request_get_status(q, &flag, &s);
    CHECK(flag && q == copy && w.queries == 1 && w.frees == 0);
    MPI_Wait(&q, &s);
    CHECK(q == MPI_REQUEST_NULL);
    CHECK(w.queries == 2 && w.frees == 1 && w.cancels == 0);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK_EQ(count, 5);
    CHECK_EQ(s.MPI_SOURCE, 17);
    CHECK_EQ(s.MPI_TAG, 23);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    MPI_Grequest_start(query, release, cancel, &w, &q);
    MPI_Grequest_complete(q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(w.queries == 3 && w.frees == 2); /* also when the caller ignores the status */
}

static void freed(void)
{
    struct work w = {0};
    MPI_Request q, copy;
    MPI_Grequest_start(query, release, cancel, &w, &q);
    copy = q;
    MPI_Request_free(&q);
    CHECK(q == MPI_REQUEST_NULL);
    CHECK_EQ(w.frees, 0); /* the operation goes on */
    MPI_Grequest_complete(copy);
    CHECK_EQ(w.frees, 1);
    w.frees = 0;
    MPI_Grequest_start(query, release, cancel, &w, &q);
    MPI_Grequest_complete(q);
    MPI_Request_free(&q);
    CHECK_EQ(w.frees, 1);
    CHECK_EQ(w.queries, 0); /* nobody asked */
}

static void cancelled(void)
{
    struct work w = {0};
    MPI_Request q;
    MPI_Status s;
    int flag = 0;
    MPI_Grequest_start(query, release, cancel, &w, &q);
    MPI_Cancel(&q);
    CHECK(w.cancels == 1 && w.told == 0);
    MPI_Grequest_complete(q);
    MPI_Cancel(&q);
    CHECK(w.cancels == 2 && w.told == 1);
    w.cancelled = 1;
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
}

static void codes(void)
{
    struct work w = {.query_code = MPI_ERR_IO}, v = {.free_code = MPI_ERR_NO_MEM};
    MPI_Request q[2], one;
    MPI_Status s[2];
    MPI_Grequest_start(query, release, cancel, &w, &one);
    MPI_Grequest_complete(one);
    CHECK_CLASS(MPI_Wait(&one, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK(one == MPI_REQUEST_NULL && w.frees == 1);
    MPI_Grequest_start(query, release, cancel, &v, &one);
    MPI_Grequest_complete(one);
    CHECK_CLASS(MPI_Wait(&one, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
    MPI_Grequest_start(query, release, cancel, &v, &one);
    MPI_Grequest_complete(one);
    CHECK_CLASS(MPI_Request_free(&one), MPI_ERR_NO_MEM);
    MPI_Grequest_start(query, release, refuse, &w, &one);
    CHECK_CLASS(MPI_Cancel(&one), MPI_ERR_OTHER);
    MPI_Grequest_complete(one);
    MPI_Request_free(&one);
    v.free_code = 0;
    MPI_Grequest_start(query, release, cancel, &v, &q[0]);
    MPI_Grequest_start(query, release, cancel, &w, &q[1]);
    MPI_Grequest_complete(q[1]);
    MPI_Grequest_complete(q[0]);
    CHECK_CLASS(MPI_Waitall(2, q, s), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_IO);
}

/* Completed in one set with sends and receives. */
static void among_others(void)
{
    struct work w = {.count = 1};
    MPI_Request q[3];
    MPI_Status s[3];
    int got = -1, n, where[3], left = 3, next = (check_rank + 1) % check_ranks;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &q[0]);
    MPI_Grequest_start(query, release, cancel, &w, &q[1]);
    MPI_Isend(&next, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &q[2]);
    while (left > 0) {
        MPI_Waitsome(3, q, &n, where, s);
        for (int i = 0; i < n; i++) {
            left--;
            if (where[i] == 0)
                MPI_Grequest_complete(q[1]);
        }
    }
    CHECK_EQ(got, check_rank);
    CHECK_EQ(w.frees, 1);
}

static void mistakes(void)
{
    struct work w = {0};
    MPI_Request q, r;
    int x;
    CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
    CHECK_CLASS(MPI_Grequest_complete(r), MPI_ERR_REQUEST);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Grequest_start(query, release, cancel, &w, &q);
    MPI_Grequest_complete(q);
    CHECK_CLASS(MPI_Grequest_complete(q), MPI_ERR_REQUEST);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* Another thread does the work while this one waits. */
static void *labour(void *q)
{
    usleep(5000);
    MPI_Grequest_complete(*(MPI_Request *)q);
    return NULL;
}

static void threads(void)
{
    struct work w = {.count = 3};
    pthread_t thread;
    MPI_Request q, copy;
    MPI_Status s;
    int count = -1;
    for (int i = 0; i < 5; i++) {
        MPI_Grequest_start(query, release, cancel, &w, &q);
        copy = q;
        pthread_create(&thread, NULL, labour, &copy);
        MPI_Wait(&q, &s);
        MPI_Get_count(&s, MPI_INT, &count);
        CHECK(q == MPI_REQUEST_NULL && count == 3);
        pthread_join(thread, NULL);
    }
    CHECK_EQ(w.frees, 5);
}

int main(int argc, char **argv)
{
    int level = -1;
    check_name = "grequest";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    life();
    freed();
    cancelled();
    codes();
    among_others();
    mistakes();
    if (level == MPI_THREAD_MULTIPLE)
        threads();
    return finish();
}
