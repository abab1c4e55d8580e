/*
 * The blocking collectives as the nonblocking ones followed by a completion (MPI 5.0 section 6.12), or, with
 * AS_PERSISTENT, as the persistent ones made, started and freed (section 6.13). A program for the blocking ones that is
 * included after this header so becomes one for the others. Every call has a barrier of its kind before and after it
 * under way at the same time, and the ways of completing take turns.
 */
#ifndef COLL_AS_H
#define COLL_AS_H
#include "check.h"

static int as_turn;

/* All of several requests, one way or another. */
static inline int as_complete(int n, MPI_Request *q)
{
    MPI_Request all[3];
    int code = MPI_SUCCESS, flag = 0, count, indices[3], worst = MPI_SUCCESS;
    for (int i = 0; i < n; i++)
        all[i] = q[i];
    switch (as_turn++ % 5) {
    case 0: worst = MPI_Waitall(n, all, MPI_STATUSES_IGNORE); break;
    case 1:
        for (int i = n - 1; i >= 0; i--)
            for (flag = 0; !flag; worst = code != MPI_SUCCESS ? code : worst)
                code = MPI_Test(&all[i], &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        for (int i = 0; i < n; i++) {
            code = MPI_Waitany(n, all, &count, MPI_STATUS_IGNORE);
            worst = code != MPI_SUCCESS ? code : worst;
        }
        break;
    case 3:
        for (int left = n; left > 0; left -= count) {
            code = MPI_Waitsome(n, all, &count, indices, MPI_STATUSES_IGNORE);
            worst = code != MPI_SUCCESS ? code : worst;
        }
        break;
    default:
        for (int i = n - 1; i >= 0; i--) {
            while (!flag)
                MPI_Request_get_status(all[i], &flag, MPI_STATUS_IGNORE);
            code = MPI_Wait(&all[i], MPI_STATUS_IGNORE);
            worst = code != MPI_SUCCESS ? code : worst, flag = 0;
        }
    }
    for (int i = 0; i < n; i++)
        q[i] = all[i];
    return worst;
}

#ifdef AS_PERSISTENT
static inline int as_started(int n, MPI_Request *q, int again)
{
    int code = MPI_SUCCESS;
    for (int round = 0; round <= again && code == MPI_SUCCESS; round++) {
        if (as_turn % 2)
            MPI_Startall(n, q);
        else
            for (int i = n - 1; i >= 0; i--)
                MPI_Start(&q[i]);
        code = as_complete(n, q);
    }
    for (int i = 0; i < n; i++) {
        CHECK(q[i] != MPI_REQUEST_NULL);
        MPI_Request_free(&q[i]);
    }
    return code;
}

#define AS(again, c, call)                                                                                                \
    MPI_Request q[3];                                                                                                     \
    int code;                                                                                                             \
    MPI_Barrier_init(c, MPI_INFO_NULL, &q[0]);                                                                            \
    code = call;                                                                                                          \
    if (code != MPI_SUCCESS) {                                                                                            \
        MPI_Request_free(&q[0]);                                                                                          \
        return code;                                                                                                      \
    }                                                                                                                     \
    MPI_Barrier_init(c, MPI_INFO_NULL, &q[2]);                                                                            \
    return as_started(3, q, again)
#define AS_ONE(c)                                                                                                         \
    MPI_Request q;                                                                                                        \
    MPI_Barrier_init(c, MPI_INFO_NULL, &q);                                                                               \
    return as_started(1, &q, 0)
#else
#define AS(again, c, call)                                                                                                \
    MPI_Request q[3];                                                                                                     \
    int code, worst;                                                                                                      \
    MPI_Ibarrier(c, &q[0]);                                                                                               \
    code = call;                                                                                                          \
    if (code != MPI_SUCCESS) {                                                                                            \
        as_complete(1, q);                                                                                                \
        return code;                                                                                                      \
    }                                                                                                                     \
    MPI_Ibarrier(c, &q[2]);                                                                                               \
    worst = as_complete(3, q);                                                                                            \
    for (int i = 0; i < 3; i++)                                                                                           \
        CHECK(q[i] == MPI_REQUEST_NULL);                                                                                  \
    return worst
#define AS_ONE(c)                                                                                                         \
    MPI_Request q;                                                                                                        \
    MPI_Ibarrier(c, &q);                                                                                                  \
    return as_complete(1, &q)
#endif

static inline int as_barrier(MPI_Comm c)
{
    AS_ONE(c);
}
#define MPI_Barrier(c) as_barrier(c)

static inline int as_bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Bcast_init(b, n, t, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ibcast(b, n, t, root, c, &q[1]));
#endif
}
#define MPI_Bcast(...) as_bcast(__VA_ARGS__)

static inline int as_bcast_c(void *b, MPI_Count n, MPI_Datatype t, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Bcast_init_c(b, n, t, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ibcast_c(b, n, t, root, c, &q[1]));
#endif
}
#define MPI_Bcast_c(...) as_bcast_c(__VA_ARGS__)

static inline int as_gather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Gather_init(a, n, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Igather(a, n, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Gather(...) as_gather(__VA_ARGS__)

static inline int as_gather_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, MPI_Count m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Gather_init_c(a, n, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Igather_c(a, n, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Gather_c(...) as_gather_c(__VA_ARGS__)

static inline int as_gatherv(const void *a, int n, MPI_Datatype t, void *b, const int *m, const int *bd, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Gatherv_init(a, n, t, b, m, bd, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Igatherv(a, n, t, b, m, bd, u, root, c, &q[1]));
#endif
}
#define MPI_Gatherv(...) as_gatherv(__VA_ARGS__)

static inline int as_gatherv_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, const MPI_Count *m, const MPI_Aint *bd, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Gatherv_init_c(a, n, t, b, m, bd, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Igatherv_c(a, n, t, b, m, bd, u, root, c, &q[1]));
#endif
}
#define MPI_Gatherv_c(...) as_gatherv_c(__VA_ARGS__)

static inline int as_scatter(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Scatter_init(a, n, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscatter(a, n, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Scatter(...) as_scatter(__VA_ARGS__)

static inline int as_scatter_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, MPI_Count m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Scatter_init_c(a, n, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscatter_c(a, n, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Scatter_c(...) as_scatter_c(__VA_ARGS__)

static inline int as_scatterv(const void *a, const int *n, const int *ad, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Scatterv_init(a, n, ad, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscatterv(a, n, ad, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Scatterv(...) as_scatterv(__VA_ARGS__)

static inline int as_scatterv_c(const void *a, const MPI_Count *n, const MPI_Aint *ad, MPI_Datatype t, void *b, MPI_Count m, MPI_Datatype u, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Scatterv_init_c(a, n, ad, t, b, m, u, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscatterv_c(a, n, ad, t, b, m, u, root, c, &q[1]));
#endif
}
#define MPI_Scatterv_c(...) as_scatterv_c(__VA_ARGS__)

static inline int as_allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Allgather_init(a, n, t, b, m, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallgather(a, n, t, b, m, u, c, &q[1]));
#endif
}
#define MPI_Allgather(...) as_allgather(__VA_ARGS__)

static inline int as_allgather_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, MPI_Count m, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Allgather_init_c(a, n, t, b, m, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallgather_c(a, n, t, b, m, u, c, &q[1]));
#endif
}
#define MPI_Allgather_c(...) as_allgather_c(__VA_ARGS__)

static inline int as_allgatherv(const void *a, int n, MPI_Datatype t, void *b, const int *m, const int *bd, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Allgatherv_init(a, n, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallgatherv(a, n, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Allgatherv(...) as_allgatherv(__VA_ARGS__)

static inline int as_allgatherv_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, const MPI_Count *m, const MPI_Aint *bd, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(1, c, MPI_Allgatherv_init_c(a, n, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallgatherv_c(a, n, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Allgatherv_c(...) as_allgatherv_c(__VA_ARGS__)

static inline int as_alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoall_init(a, n, t, b, m, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoall(a, n, t, b, m, u, c, &q[1]));
#endif
}
#define MPI_Alltoall(...) as_alltoall(__VA_ARGS__)

static inline int as_alltoall_c(const void *a, MPI_Count n, MPI_Datatype t, void *b, MPI_Count m, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoall_init_c(a, n, t, b, m, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoall_c(a, n, t, b, m, u, c, &q[1]));
#endif
}
#define MPI_Alltoall_c(...) as_alltoall_c(__VA_ARGS__)

static inline int as_alltoallv(const void *a, const int *n, const int *ad, MPI_Datatype t, void *b, const int *m, const int *bd, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoallv_init(a, n, ad, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoallv(a, n, ad, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Alltoallv(...) as_alltoallv(__VA_ARGS__)

static inline int as_alltoallv_c(const void *a, const MPI_Count *n, const MPI_Aint *ad, MPI_Datatype t, void *b, const MPI_Count *m, const MPI_Aint *bd, MPI_Datatype u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoallv_init_c(a, n, ad, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoallv_c(a, n, ad, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Alltoallv_c(...) as_alltoallv_c(__VA_ARGS__)

static inline int as_alltoallw(const void *a, const int *n, const int *ad, const MPI_Datatype *t, void *b, const int *m, const int *bd, const MPI_Datatype *u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoallw_init(a, n, ad, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoallw(a, n, ad, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Alltoallw(...) as_alltoallw(__VA_ARGS__)

static inline int as_alltoallw_c(const void *a, const MPI_Count *n, const MPI_Aint *ad, const MPI_Datatype *t, void *b, const MPI_Count *m, const MPI_Aint *bd, const MPI_Datatype *u, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Alltoallw_init_c(a, n, ad, t, b, m, bd, u, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ialltoallw_c(a, n, ad, t, b, m, bd, u, c, &q[1]));
#endif
}
#define MPI_Alltoallw_c(...) as_alltoallw_c(__VA_ARGS__)

static inline int as_reduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(0, c, MPI_Reduce_init(a, b, n, t, op, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce(a, b, n, t, op, root, c, &q[1]));
#endif
}
#define MPI_Reduce(...) as_reduce(__VA_ARGS__)

static inline int as_reduce_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(0, c, MPI_Reduce_init_c(a, b, n, t, op, root, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce_c(a, b, n, t, op, root, c, &q[1]));
#endif
}
#define MPI_Reduce_c(...) as_reduce_c(__VA_ARGS__)

static inline int as_allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Allreduce_init(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallreduce(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Allreduce(...) as_allreduce(__VA_ARGS__)

static inline int as_allreduce_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Allreduce_init_c(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iallreduce_c(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Allreduce_c(...) as_allreduce_c(__VA_ARGS__)

static inline int as_reduce_scatter(const void *a, void *b, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Reduce_scatter_init(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce_scatter(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Reduce_scatter(...) as_reduce_scatter(__VA_ARGS__)

static inline int as_reduce_scatter_c(const void *a, void *b, const MPI_Count *n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Reduce_scatter_init_c(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce_scatter_c(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Reduce_scatter_c(...) as_reduce_scatter_c(__VA_ARGS__)

static inline int as_reduce_scatter_block(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Reduce_scatter_block_init(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce_scatter_block(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Reduce_scatter_block(...) as_reduce_scatter_block(__VA_ARGS__)

static inline int as_reduce_scatter_block_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Reduce_scatter_block_init_c(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Ireduce_scatter_block_c(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Reduce_scatter_block_c(...) as_reduce_scatter_block_c(__VA_ARGS__)

static inline int as_scan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Scan_init(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscan(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Scan(...) as_scan(__VA_ARGS__)

static inline int as_scan_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Scan_init_c(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iscan_c(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Scan_c(...) as_scan_c(__VA_ARGS__)

static inline int as_exscan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Exscan_init(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iexscan(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Exscan(...) as_exscan(__VA_ARGS__)

static inline int as_exscan_c(const void *a, void *b, MPI_Count n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
#ifdef AS_PERSISTENT
    AS(a != MPI_IN_PLACE, c, MPI_Exscan_init_c(a, b, n, t, op, c, MPI_INFO_NULL, &q[1]));
#else
    AS(0, c, MPI_Iexscan_c(a, b, n, t, op, c, &q[1]));
#endif
}
#define MPI_Exscan_c(...) as_exscan_c(__VA_ARGS__)

#endif
