// covers: MPI_Psend_init MPI_Psend_init_c MPI_Precv_init MPI_Precv_init_c MPI_Pready MPI_Pready_range MPI_Pready_list MPI_Parrived MPI_Start MPI_Startall MPI_Request_free MPI_Cancel MPI_Request_get_status
/*
 * Partitioned communication, MPI 5.0 section 4.2, around a ring: marks in every order, numbers of partitions that differ on both
 * sides, rounds whole and in pieces in any sequence, requests of every kind of life.
 */
#include "check.h"

enum { ROUNDS = 6, MOST = 300, LOOKS = 100 };
static int next, previous;

/* A row of numbers that is the same on all ranks. */
static unsigned random_state;

static int any(int below)
{
    random_state = random_state * 1103515245u + 12345u;
    return (int)((random_state >> 8) % (unsigned)below);
}

/* Enough passes of progress that what is marked goes. */
static void look(void)
{
    int flag;
    for (int i = 0; i < LOOKS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void shuffle(int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = any(i + 1), kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
}

/* Marks all partitions: in order, backwards, as ranges, as lists, in any order; now and then with progress in between. */
static void mark(MPI_Request q, int n, int how, int pauses)
{
    int order[MOST];
    if (how == 0)
        for (int i = 0; i < n; i++)
            order[i] = i;
    else if (how == 1)
        for (int i = 0; i < n; i++)
            order[i] = n - 1 - i;
    else
        shuffle(order, n);
    if (how == 3) {
        int half = n / 2;
        if (n - half > 0)
            MPI_Pready_range(half, n - 1, q);
        if (pauses)
            look();
        if (half > 0)
            MPI_Pready_range(0, half - 1, q);
        return;
    }
    if (how == 4) {
        int part = n / 3;
        MPI_Pready_list(part, order, q);
        if (pauses)
            look();
        MPI_Pready_list(n - part, order + part, q);
        return;
    }
    for (int i = 0; i < n; i++) {
        MPI_Pready(order[i], q);
        if (pauses && any(4) == 0)
            look();
    }
}

/* Receives until all partitions were seen to arrive; each is right as soon as it has. */
static void watch(MPI_Request q, const unsigned char *in, int n, int bytes, int seed)
{
    char seen[MOST] = {0};
    for (int left = n; left > 0;)
        for (int i = 0; i < n; i++) {
            int flag = 0;
            if (seen[i])
                continue;
            MPI_Parrived(q, i, &flag);
            if (!flag)
                continue;
            for (int b = 0; b < bytes; b++)
                if (in[i * bytes + b] != pattern((size_t)(i * bytes + b), seed)) {
                    CHECK_MSG(0, "partition %d of %d arrived, byte %d of %d is wrong", i, n, b, bytes);
                    break;
                }
            seen[i] = 1, left--;
        }
}

/* `out_n` partitions of `out_bytes` go to `in_n` partitions of `in_bytes`, in several rounds. */
static void rounds(int out_n, int out_bytes, int in_n, int in_bytes)
{
    int total = out_n * out_bytes;
    unsigned char *out = check_alloc((size_t)total), *in = check_alloc((size_t)total);
    MPI_Request q[2], copy[2];
    MPI_Status s[2];
    fill(out, (size_t)total, 0);
    MPI_Psend_init(out, out_n, out_bytes, MPI_BYTE, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init_c(in, in_n, in_bytes, MPI_BYTE, previous, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    memcpy(copy, q, sizeof q);
    for (int round = 0; round < ROUNDS; round++) {
        int pauses = any(2), watched = any(2), late = any(2);
        fill(out, (size_t)total, check_rank + round);
        memset(in, 0xee, (size_t)total);
        if (late) {
            MPI_Start(&q[0]);
            mark(q[0], out_n, round % 5, pauses);
            MPI_Start(&q[1]);
        } else {
            MPI_Startall(2, q);
            mark(q[0], out_n, round % 5, pauses);
        }
        if (watched)
            watch(q[1], in, in_n, in_bytes, previous + round);
        memset(s, 0x55, sizeof s);
        MPI_Waitall(2, q, s);
        CHECK_STATUS(s[1], previous, 7, total);
        CHECK_BYTES(in, (size_t)total, previous + round);
        CHECK(q[0] == copy[0] && q[1] == copy[1]);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    CHECK(q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL);
    free(out), free(in);
}

/* Random partitionings: any divisors of a total on both sides. */
static void differential(int cases)
{
    static const int units[] = {1, 3, 8, 100, 1500, 40000};
    random_state = 4711;
    for (int i = 0; i < cases; i++) {
        int a = 1 + any(12), b = 1 + any(12), unit = units[any(6)];
        rounds(a, b * unit, b, a * unit);
        random_state = (unsigned)(4711 * (i + 2));
    }
}

/* The same with types that have gaps, of which a partition of the other side may hold a part. */
static void gaps(int n, int out_n, int in_n)
{
    MPI_Datatype out_type, in_type;
    MPI_Request q[2];
    int *out = check_alloc(4 * (size_t)n * sizeof(int)), *in = check_alloc(4 * (size_t)n * sizeof(int));
    MPI_Type_vector(3, 1, 2, MPI_INT, &out_type); /* 3 of 5 */
    MPI_Type_vector(2, 2, 3, MPI_INT, &in_type);  /* 4 of 5 */
    MPI_Type_create_resized(out_type, 0, 5 * sizeof(int), &out_type);
    MPI_Type_create_resized(in_type, 0, 5 * sizeof(int), &in_type);
    MPI_Type_commit(&out_type), MPI_Type_commit(&in_type);
    MPI_Psend_init_c(out, out_n, n / 3 / out_n, out_type, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in, in_n, n / 4 / in_n, in_type, previous, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    MPI_Type_free(&out_type), MPI_Type_free(&in_type);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            out[i / 3 * 5 + i % 3 * 2] = 100000 * round + 1000000 * check_rank + i;
        memset(in, 0xee, 4 * (size_t)n * sizeof(int));
        MPI_Startall(2, q);
        mark(q[0], out_n, round % 5, round % 2);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            int got = in[i / 4 * 5 + i % 4 / 2 * 3 + i % 2];
            if (got != 100000 * round + 1000000 * previous + i) {
                CHECK_EQ(got, 100000 * round + 1000000 * previous + i);
                break;
            }
        }
        for (int i = 0; i < n / 4; i++)
            CHECK_EQ(in[5 * i + 2], (int)0xeeeeeeee);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    free(out), free(in);
}

/* A partition arrives though others are never marked before the receiver says that it has arrived. */
static void answered(int bytes)
{
    enum { N = 5 };
    unsigned char *out = check_alloc(N * (size_t)bytes), *in = check_alloc(N * (size_t)bytes);
    MPI_Request q[2], token;
    MPI_Psend_init(out, N, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in, N, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    fill(out, N * (size_t)bytes, check_rank);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, q);
        for (int i = 0; i < N; i++) {
            int flag = 0;
            MPI_Pready(N - 1 - i, q[0]);
            MPI_Irecv(NULL, 0, MPI_BYTE, next, 2, MPI_COMM_WORLD, &token);
            while (!flag)
                MPI_Parrived(q[1], N - 1 - i, &flag);
            if (i < N - 1) {
                MPI_Parrived(q[1], 0, &flag);
                CHECK(!flag);
                MPI_Test(&q[1], &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
                MPI_Request_get_status(q[1], &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
            }
            MPI_Send(NULL, 0, MPI_BYTE, previous, 2, MPI_COMM_WORLD);
            MPI_Wait(&token, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in, N * (size_t)bytes, previous);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    free(out), free(in);
}

/* A send may be several rounds ahead of its receive; each round is received as it was. */
static void ahead(int bytes)
{
    enum { N = 4, FAR = 5 };
    unsigned char *out = check_alloc(N * (size_t)bytes), *in = check_alloc(N * (size_t)bytes);
    MPI_Request q[2];
    MPI_Psend_init(out, N, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    for (int turn = 0; turn < 4; turn++) {
        if (turn == 1)
            MPI_Precv_init(in, N, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        for (int round = 0; round < FAR; round++) {
            fill(out, N * (size_t)bytes, check_rank + round);
            MPI_Start(&q[0]);
            mark(q[0], N, round, (round + turn) % 3 == 0);
            MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        }
        for (int round = 0; round < FAR && turn > 0; round++) {
            MPI_Start(&q[1]);
            MPI_Wait(&q[1], MPI_STATUS_IGNORE);
            CHECK_BYTES(in, N * (size_t)bytes, previous + round);
        }
    }
    for (int round = 0; round < FAR; round++) {
        MPI_Start(&q[1]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        CHECK_BYTES(in, N * (size_t)bytes, previous + round);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    free(out), free(in);
}

/* Requests match in the order in which they were made, for each tag; freed ones, too. */
static void order(MPI_Comm comm)
{
    int out[6], in[6] = {0}, x = 0;
    MPI_Request s[6], r[6], freed[2];
    for (int i = 0; i < 2; i++)
        MPI_Psend_init(&x, 1, 1, MPI_INT, next, 1, comm, MPI_INFO_NULL, &freed[i]), MPI_Request_free(&freed[i]);
    for (int i = 0; i < 6; i++)
        out[i] = 10 * check_rank + i, MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, i % 2, comm, MPI_INFO_NULL, &s[i]);
    for (int i = 0; i < 2; i++)
        MPI_Precv_init(&x, 1, 1, MPI_INT, previous, 1, comm, MPI_INFO_NULL, &freed[i]), MPI_Request_free(&freed[i]);
    for (int tag = 1; tag >= 0; tag--)
        for (int i = tag; i < 6; i += 2)
            MPI_Precv_init(&in[i], 1, 1, MPI_INT, previous, tag, comm, MPI_INFO_NULL, &r[i]);
    MPI_Startall(6, r), MPI_Startall(6, s);
    for (int i = 5; i >= 0; i--)
        MPI_Pready(0, s[i]);
    MPI_Waitall(6, s, MPI_STATUSES_IGNORE), MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(in[i], 10 * previous + i);
        MPI_Request_free(&s[i]), MPI_Request_free(&r[i]);
    }
}

/* Requests keep their communicator; one that is made and never started holds nobody up. */
static void communicators(void)
{
    int a = check_rank, b = -1;
    MPI_Request q[3];
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Psend_init(&a, 1, 1, MPI_INT, next, 1, c, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(&b, 1, 1, MPI_INT, previous, 1, c, MPI_INFO_NULL, &q[1]);
    MPI_Comm_free(&c);
    MPI_Startall(2, q);
    MPI_Pready(0, q[0]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_EQ(b, previous);
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    order(c);
    MPI_Precv_init(&b, 1, 1, MPI_INT, previous, 9, c, MPI_INFO_NULL, &q[0]); /* never matched */
    MPI_Psend_init(&a, 1, 1, MPI_INT, next, 1, c, MPI_INFO_NULL, &q[1]);
    MPI_Precv_init(&b, 1, 1, MPI_INT, previous, 1, c, MPI_INFO_NULL, &q[2]);
    b = -1;
    MPI_Startall(2, q + 1);
    MPI_Pready(0, q[1]);
    MPI_Waitall(2, q + 1, MPI_STATUSES_IGNORE);
    CHECK_EQ(b, previous);
    MPI_Request_free(&q[0]);
    MPI_Comm_disconnect(&c);
    MPI_Request_free(&q[1]), MPI_Request_free(&q[2]);
}

static void between_groups(void)
{
    int out[4], in[4] = {0}, half, color = check_rank % 2;
    MPI_Request q[2];
    MPI_Comm own, inter;
    if (check_ranks < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - color, 5, &inter);
    MPI_Comm_remote_size(inter, &half);
    int mine = check_rank / 2, peer = mine < half ? mine : MPI_PROC_NULL;
    for (int i = 0; i < 4; i++)
        out[i] = 10 * check_rank + i;
    MPI_Psend_init(out, 4, 1, MPI_INT, peer, 1, inter, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in, 2, 2, MPI_INT, peer, 1, inter, MPI_INFO_NULL, &q[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, q);
        mark(q[0], 4, 0, round == 1);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4 && peer != MPI_PROC_NULL; i++)
            CHECK_EQ(in[i], 10 * (2 * peer + 1 - color) + i);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    MPI_Comm_free(&inter), MPI_Comm_free(&own);
}

/* Nothing to send, and nobody to send to. */
static void nothing(void)
{
    int x = 0, flag;
    MPI_Request q[2];
    MPI_Status s[2];
    static const int sizes[][4] = {{0, 3, 0, 3}, {4, 0, 2, 0}, {0, 0, 3, 0}, {5, 0, 0, 1}};
    for (int i = 0; i < 4; i++) {
        MPI_Psend_init(NULL, sizes[i][0], sizes[i][1], MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        MPI_Precv_init(NULL, sizes[i][2], sizes[i][3], MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        for (int round = 0; round < 3; round++) {
            MPI_Startall(2, q);
            mark(q[0], sizes[i][0], round % 3, 1);
            MPI_Waitall(2, q, s);
            CHECK_STATUS(s[1], previous, 4, 0);
        }
        MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    }
    MPI_Psend_init(&x, 2, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(&x, 3, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, q);
        MPI_Parrived(q[1], 2, &flag);
        CHECK(flag);
        MPI_Pready_range(0, 1, q[0]);
        MPI_Waitall(2, q, s);
        CHECK_STATUS(s[1], MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
}

static void refused(void)
{
    int x[4] = {0}, flag = 0, list[] = {0, 3}, twice[] = {1, 1};
    MPI_Request q[3];
    CHECK_CLASS(MPI_Precv_init(x, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Precv_init(x, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, q), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Psend_init(x, -1, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(x, 1, -1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init_c(x, 1 << 30, (MPI_Count)1 << 40, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q), MPI_ERR_COUNT);
    MPI_Psend_init(x, 3, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(x, 1, 3, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    MPI_Send_init(x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[2]);
    CHECK_CLASS(MPI_Pready(0, q[0]), MPI_ERR_REQUEST); /* inactive */
    CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, q[2]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(q[2], 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(q[0], 0, &flag), MPI_ERR_REQUEST);
    MPI_Parrived(q[1], 0, &flag);
    CHECK(flag); /* inactive */
    flag = 0;
    MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
    CHECK(flag);
    MPI_Startall(2, q);
    CHECK_CLASS(MPI_Start(&q[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, q[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(3, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(2, 1, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(1, 3, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(-1, list, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(q[1], 1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Request_free(&q[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&q[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&q[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready_list(2, twice, q[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, list, q[0]), MPI_ERR_ARG);
    MPI_Pready(2, q[0]);
    CHECK_CLASS(MPI_Pready(2, q[0]), MPI_ERR_ARG);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&q[i]);
    /* Of a range that is refused for one of them the others count, whoever the peer is. */
    for (int peer = 0; peer < 2; peer++) {
        MPI_Psend_init(x, 4, 1, MPI_INT, peer ? check_rank : MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        MPI_Precv_init(x, 4, 1, MPI_INT, peer ? check_rank : MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        MPI_Startall(2, q);
        MPI_Pready(0, q[0]);
        CHECK_CLASS(MPI_Pready_range(0, 3, q[0]), MPI_ERR_ARG);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    }
}

/* A receive that is too short says so, whole and in pieces. */
static void too_short(int pauses)
{
    unsigned char out[40] = {0}, in[24] = {0};
    MPI_Request q[2];
    fill(out, 40, check_rank);
    MPI_Psend_init(out, 5, 8, MPI_BYTE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in, 3, 8, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, q);
        mark(q[0], 5, 0, pauses);
        CHECK_CLASS(MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        CHECK_BYTES(in, 24, previous);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
}

/* Every other partition first, a pause, then the others: pieces of one partition each, whose number alone takes no time. */
static void every_other(int n)
{
    MPI_Request q[2];
    int *out = check_alloc((size_t)n * sizeof *out), *in = check_alloc((size_t)n * sizeof *in), bad = 0;
    double end;
    MPI_Psend_init(out, n, 1, MPI_INT, next, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in, 1, n, MPI_INT, previous, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < n; i++)
        out[i] = check_rank + i, in[i] = -1;
    double start = MPI_Wtime();
    MPI_Startall(2, q);
    for (int first = 0; first < 2; first++) {
        for (int i = first; i < n; i += 2)
            MPI_Pready(i, q[0]);
        for (end = MPI_Wtime() + 1e-3; MPI_Wtime() < end && first == 0;)
            ;
    }
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK_MSG(MPI_Wtime() - start < 10, "%d partitions took %g s", n, MPI_Wtime() - start);
    for (int i = 0; i < n; i++)
        bad += in[i] != previous + i;
    CHECK_EQ(bad, 0);
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    free(out), free(in);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "partitioned");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    refused();
    nothing();
    rounds(16, 64, 16, 64);
    rounds(130, 8, 65, 16);
    rounds(6, 20000, 8, 15000);
    rounds(4, 100000, 1, 400000);
    gaps(240, 20, 15);
    gaps(24000, 4, 60);
    answered(8), answered(100000);
    ahead(10), ahead(check_ranks > 1 ? 3000 : 100); /* to itself less is buffered */
    order(MPI_COMM_WORLD);
    communicators();
    between_groups();
    too_short(0), too_short(1);
    every_other(60000);
    differential(check_ranks > 4 ? 8 : 25);
    return finish();
}
