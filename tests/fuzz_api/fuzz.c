/*
 * Random calls with random arguments for some seconds: `fuzz_api [--seed N] [--seconds N]`. All ranks draw the same calls,
 * so that collective ones match; what could wait for a message that never comes gets MPI_PROC_NULL. Nothing may crash,
 * hang, write behind a buffer or keep what was freed. A crash prints the seed and the last calls.
 */
#include "fuzz.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void make_live(void), make_info(void), make_stale(void), drop_fresh(void);

#define POOL 8
#define ROUND 400   /* calls until everything is freed */
#define KEPT 20     /* calls in the log */
#define SECONDS 30  /* that a round may take */
#define HANDLES_AT_MOST 2000
#define MEMORY_AT_MOST (192 << 10) /* KiB */

static uint64_t seed, state;
static int rank, size, failures;
static long calls;
static const struct fuzzed *now;
static long succeeded[700];
int huge, call_count;

static char logged[KEPT][1200];
static size_t at;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int one_in(int n)
{
    return (draw() >> 20) % (unsigned)n == 0;
}

static int below(int n)
{
    return (int)((draw() >> 20) % (unsigned)n);
}

/* With several ranks a collective call must be right on all of them or wrong on all of them in the same way. */
static int strict(void)
{
    return now->collective && size > 1;
}

void log_text(const char *text)
{
    char *line = logged[calls % KEPT];
    size_t length = strlen(text);
    if (at + length + 3 > sizeof logged[0])
        return;
    if (line[at - 1] != '(')
        line[at++] = ',', line[at++] = ' ';
    memcpy(line + at, text, length + 1);
    at += length;
}

static void log_number(long long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    log_text(text);
}

void begin(const struct fuzzed *function)
{
    now = function;
    calls++;
    at = (size_t)snprintf(logged[calls % KEPT], sizeof logged[0], "%s(", function->name);
    huge = one_in(40) && !strict();
    call_count = below(4);
}

int ended(int code)
{
    succeeded[now - fuzzed] += code == MPI_SUCCESS;
    return code;
}

/* Only raw writes: it runs where the program crashed. */
static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(3);
}

static void last_calls(void)
{
    char text[128];
    snprintf(text, sizeof text, "/* rank %d of %d, --seed %llu, call %ld; the last ones: */\n", rank, size,
             (unsigned long long)seed, calls);
    say(text);
    for (long call = calls < KEPT ? 1 : calls - KEPT + 1; call <= calls; call++) {
        say("    ");
        say(logged[call % KEPT]);
        say(");\n");
    }
}

static void stopped(int signal)
{
    char text[64];
    snprintf(text, sizeof text, "FAIL signal %d%s\n", signal, signal == SIGALRM ? ": it hangs" : "");
    say(text);
    last_calls();
    _exit(2);
}

#define FAIL(...)                                                                                                         \
    do {                                                                                                                  \
        failures++;                                                                                                       \
        printf("FAIL ");                                                                                                  \
        printf(__VA_ARGS__);                                                                                              \
        printf("\n");                                                                                                     \
        fflush(stdout);                                                                                                   \
        last_calls();                                                                                                     \
    } while (0)

int choose(int wrongs)
{
    int which = one_in(6) ? below(wrongs + 1) : 0;
    return strict() ? 0 : which;
}

static int last_buffer;
#define BUFFER 32768
#define GUARD 64
static unsigned char buffers[8][GUARD + BUFFER + GUARD], attach[1 << 16];

void *pick_buffer(const char *own)
{
    char text[64];
    int which = below(8), wrong = one_in(24), in_place = one_in(24);
    if (own) {
        log_text(own);
        return attach;
    }
    if (!strict() && (huge || wrong)) {
        log_text("NULL");
        return NULL;
    }
    if (now->collective && !strict() && in_place) {
        log_text("MPI_IN_PLACE");
        return MPI_IN_PLACE;
    }
    /* One buffer for both sides is a mistake that only the root sees. */
    if (strict() && which == last_buffer)
        which = (which + 1) % 8;
    last_buffer = which;
    snprintf(text, sizeof text, "buffers[%d]", which);
    log_text(text);
    return buffers[which] + GUARD;
}

long long pick_count(long long least_wrong)
{
    static const long long large[] = {2147483647, 1073741824, 2147483646};
    int which = below(3), wrong = one_in(24);
    long long count = call_count;
    if (!strict())
        count = huge ? large[which] : wrong ? least_wrong : count;
    log_number(count);
    return count;
}

long long pick_small(long long right)
{
    int which = below(12);
    long long number = strict() || which > 3 ? right : which == 0 ? -1 : which == 1 ? -2147483647 - 1 : which;
    log_number(number);
    return number;
}

int pick_rank(int root)
{
    static const int wrong[] = {-7, 2147483647, -2147483647 - 1, MPI_ROOT, 100000};
    int kind = below(8), which = below(5), right = below(size);
    int number = kind == 0 ? wrong[which] : kind == 1 ? MPI_PROC_NULL : kind == 2 ? MPI_ANY_SOURCE : right;
    if (!root && now->waits && kind > 1)
        number = MPI_PROC_NULL;
    log_number(number);
    return number;
}

int pick_tag(int right)
{
    static const int wrong[] = {-5, MPI_ANY_TAG, 2147483647, -2147483647 - 1};
    int kind = below(8), which = below(4);
    int number = kind == 0 ? wrong[which] : right + kind % 2;
    log_number(number);
    return number;
}

/* Pools: predefined handles, ones that were made in this round, freed ones, garbage. */
#define POOLS(type, kind, null, good, other)                                                                              \
    static type kind##s[POOL];                                                                                            \
    static type kind##_scratch[ROOM];                                                                                     \
    type pick_##kind(void)                                                                                                \
    {                                                                                                                     \
        static const uintptr_t garbage[] = {0, 0x7ffffff1, 0x123456789abc, UINTPTR_MAX, 1024, 1025, 3, 600};              \
        char text[64];                                                                                                    \
        int what = below(16), which = below(POOL);                                                                        \
        snprintf(text, sizeof text, #kind "s[%d]", which);                                                                \
        if (what == 0) {                                                                                                  \
            log_text(#null);                                                                                              \
            return null;                                                                                                  \
        }                                                                                                                 \
        if (what == 1) {                                                                                                  \
            snprintf(text, sizeof text, "(" #type ")%#llx", (unsigned long long)garbage[which]);                          \
            log_text(text);                                                                                               \
            return (type)garbage[which];                                                                                  \
        }                                                                                                                 \
        if (what == 2) {                                                                                                  \
            log_text("stale." #kind);                                                                                     \
            return stale.kind;                                                                                            \
        }                                                                                                                 \
        if (what < 10) {                                                                                                  \
            log_text(text);                                                                                               \
            return kind##s[which];                                                                                        \
        }                                                                                                                 \
        log_text(what % 2 ? #good : #other);                                                                              \
        return what % 2 ? good : other;                                                                                   \
    }                                                                                                                     \
    type *pick_##kind##_in(void)                                                                                          \
    {                                                                                                                     \
        char text[64];                                                                                                    \
        int what = below(8), which = below(POOL);                                                                         \
        if (what == 0) {                                                                                                  \
            log_text("NULL");                                                                                             \
            return NULL;                                                                                                  \
        }                                                                                                                 \
        if (what == 1) {                                                                                                  \
            log_text("FIRST(" #type ", stale." #kind ")");                                                                \
            kind##_scratch[0] = stale.kind;                                                                               \
            return kind##_scratch;                                                                                        \
        }                                                                                                                 \
        snprintf(text, sizeof text, "&" #kind "s[%d]", which);                                                            \
        log_text(text);                                                                                                   \
        return &kind##s[which];                                                                                           \
    }                                                                                                                     \
    type *pick_##kind##_out(void)                                                                                         \
    {                                                                                                                     \
        char text[64];                                                                                                    \
        int wrong = one_in(24), which = below(POOL);                                                                      \
        if (wrong && !strict()) {                                                                                         \
            log_text("NULL");                                                                                             \
            return NULL;                                                                                                  \
        }                                                                                                                 \
        give_back_##kind(&kind##s[which]);                                                                                \
        snprintf(text, sizeof text, "&" #kind "s[%d]", which);                                                            \
        log_text(text);                                                                                                   \
        return &kind##s[which];                                                                                           \
    }

#define GIVE_BACK(type, kind, null)                                                                                       \
    static void give_back_##kind(type *place)                                                                             \
    {                                                                                                                     \
        if (*place != null && *place)                                                                                     \
            drop_##kind(*place);                                                                                          \
        *place = null;                                                                                                    \
    }

GIVE_BACK(MPI_Comm, comm, MPI_COMM_NULL)
GIVE_BACK(MPI_Datatype, datatype, MPI_DATATYPE_NULL)
GIVE_BACK(MPI_Group, group, MPI_GROUP_NULL)
GIVE_BACK(MPI_Op, op, MPI_OP_NULL)
GIVE_BACK(MPI_Info, info, MPI_INFO_NULL)
GIVE_BACK(MPI_Errhandler, errhandler, MPI_ERRHANDLER_NULL)

/* What is under way is cancelled; a collective operation, which cannot be, has been begun by all ranks. */
/* Collectives that other ranks refused. */
static long begun_for_ever;

static void give_back_request(MPI_Request *place)
{
    int done = 1;
    MPI_Status status;
    if (*place == MPI_REQUEST_NULL || !*place)
        return;
    MPI_Grequest_complete(*place);
    MPI_Pready(0, *place); /* a partitioned send has one partition here */
    if (MPI_Request_get_status(*place, &done, &status) == MPI_SUCCESS && !done)
        MPI_Cancel(place);
    MPI_Test(place, &done, MPI_STATUS_IGNORE);
    /* A collective that was begun cannot be freed, and ends only if its arguments were right on every rank. */
    for (int tries = 0; *place != MPI_REQUEST_NULL && MPI_Request_free(place) != MPI_SUCCESS && tries < 1000; tries++)
        MPI_Test(place, &done, MPI_STATUS_IGNORE);
    if (*place != MPI_REQUEST_NULL)
        begun_for_ever++;
    *place = MPI_REQUEST_NULL;
}

POOLS(MPI_Comm, comm, MPI_COMM_NULL, MPI_COMM_WORLD, live.comm)
POOLS(MPI_Datatype, datatype, MPI_DATATYPE_NULL, MPI_INT, MPI_DOUBLE)
POOLS(MPI_Group, group, MPI_GROUP_NULL, live.group, MPI_GROUP_EMPTY)
POOLS(MPI_Op, op, MPI_OP_NULL, MPI_SUM, MPI_MAX)
POOLS(MPI_Info, info, MPI_INFO_NULL, live.info, MPI_INFO_ENV)
POOLS(MPI_Errhandler, errhandler, MPI_ERRHANDLER_NULL, MPI_ERRORS_RETURN, live.errhandler)
POOLS(MPI_Request, request, MPI_REQUEST_NULL, MPI_REQUEST_NULL, stale.request)

MPI_Datatype pick_small_datatype(void)
{
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    int before = (int)at;
    MPI_Datatype picked = pick_datatype();
    int fits = MPI_Type_get_extent(picked, &lower, &extent) != MPI_SUCCESS ||
               (MPI_Type_get_true_extent(picked, &true_lower, &true_extent) == MPI_SUCCESS && true_lower >= 0 &&
                true_lower + true_extent <= 256 && extent >= 0 && extent <= 256);
    if (fits && !strict())
        return picked;
    at = (size_t)before;
    log_text("MPI_INT");
    return MPI_INT;
}

void pick_requests(MPI_Request *place)
{
    for (int i = 0; i < ROOM; i++)
        place[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++) {
        int which = below(POOL), garbage = one_in(40), done = 1;
        place[i] = garbage ? (MPI_Request)0x7ffffff1 : requests[which];
        if (now->waits && MPI_Request_get_status(place[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
            place[i] = MPI_REQUEST_NULL;
    }
    log_text(huge ? "NULL" : "FIRST(MPI_Request, requests[…])");
}

void drop_keyval(int keyval)
{
    int mine = keyval;
    if (MPI_Comm_free_keyval(&mine) == MPI_SUCCESS || MPI_Type_free_keyval(&mine) == MPI_SUCCESS)
        return;
    MPI_Win_free_keyval(&mine);
}

void drop_message(MPI_Message message)
{
    if (message && message != MPI_MESSAGE_NULL)
        MPI_Mrecv(attach, 4096, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void give_back_all(void)
{
    for (int i = 0; i < POOL; i++) {
        give_back_request(&requests[i]);
        give_back_datatype(&datatypes[i]);
        give_back_op(&ops[i]);
        give_back_info(&infos[i]);
        give_back_errhandler(&errhandlers[i]);
        give_back_comm(&comms[i]);
        give_back_group(&groups[i]);
    }
    drop_fresh();
}

/* Receives what nobody waits for. */
static void drain(MPI_Comm comm)
{
    MPI_Status status;
    int there = 1;
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status) == MPI_SUCCESS && there)
        MPI_Recv(attach, sizeof attach, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
}

/* Slots are used again, so the place of a new handle in its table says how many are in force. */
static void check_handle(const char *kind, uintptr_t handle)
{
    long place = (long)(handle & ((1 << 22) - 1)) - 1024;
    if (place > HANDLES_AT_MOST + (strcmp(kind, "requests") ? 0 : begun_for_ever))
        FAIL("%ld %s are in force after all were freed", place, kind);
}

static void check_all(void)
{
    struct rusage used;
    check_handle("communicators", (uintptr_t)fresh_comm());
    check_handle("datatypes", (uintptr_t)fresh_datatype());
    check_handle("groups", (uintptr_t)fresh_group());
    check_handle("operations", (uintptr_t)fresh_op());
    check_handle("info objects", (uintptr_t)fresh_info());
    check_handle("error handlers", (uintptr_t)fresh_errhandler());
    check_handle("requests", (uintptr_t)fresh_persistent());
    drop_fresh();
    for (int i = 0; i < 8; i++)
        for (int byte = 0; byte < GUARD; byte++)
            if (buffers[i][byte] != 0xa5 || buffers[i][GUARD + BUFFER + byte] != 0xa5) {
                FAIL("byte %d around buffers[%d] was overwritten", byte, i);
                break;
            }
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_maxrss > MEMORY_AT_MOST && !getenv("FUZZ_NO_MEMORY_LIMIT"))
        FAIL("%ld KiB of memory are in use", used.ru_maxrss);
}

static int fuzzable[700], fuzzables;

/* A file whose split access was begun with another buffer would refuse everything ever after. */
static void renew_file(void)
{
    MPI_File_close(&live.file);
    MPI_File_open(MPI_COMM_SELF, "bad_input.data", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &live.file);
}

static void round_of_calls(void)
{
    if (size == 1)
        renew_file();
    make_stale();
    for (int i = 0; i < ROUND && !failures; i++)
        fuzzed[fuzzable[below(fuzzables)]].call();
    now = &fuzzed[fuzzable[0]];
    give_back_all();
    detach_buffers();
    MPI_Barrier(MPI_COMM_WORLD);
    drain(MPI_COMM_WORLD);
    drain(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t mine[2] = {state, ~state}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] != state || all[1] != ~state)
        FAIL("ranks have drawn different numbers");
    check_all();
}

int main(int argc, char **argv)
{
    double seconds = 5;
    seed = (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[i + 1], NULL, 0);
        if (!strcmp(argv[i], "--seconds"))
            seconds = atof(argv[i + 1]);
    }
    for (int signal_number = 1; signal_number < 16; signal_number++)
        if (strchr("\4\6\7\10\13\16", signal_number))
            signal(signal_number, stopped);
    make_info();
    MPI_Init(&argc, &argv);
    alive = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    make_live();
    memset(buffers, 0, sizeof buffers);
    for (int i = 0; i < 8; i++) {
        memset(buffers[i], 0xa5, GUARD);
        memset(buffers[i] + GUARD + BUFFER, 0xa5, GUARD);
    }
    for (int i = 0; fuzzed[i].name; i++)
        if (size == 1 || !fuzzed[i].alone)
            fuzzable[fuzzables++] = i;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    int goes_on = 1, rounds = 0;
    for (double end = MPI_Wtime() + seconds; goes_on; rounds++) {
        alarm(SECONDS);
        round_of_calls();
        goes_on = MPI_Wtime() < end && !failures;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    alarm(SECONDS);
    drop_session(live.session);
    MPI_Finalize();
    int never = 0;
    for (int i = 0; i < fuzzables; i++)
        if (succeeded[fuzzable[i]] == 0) {
            never++;
            if (getenv("FUZZ_VERBOSE"))
                printf("%s never succeeded\n", fuzzed[fuzzable[i]].name);
        }
    if (rank == 0)
        printf("seed %llu, %d functions, %d of them never succeeded, %d rounds, calls %ld\n", (unsigned long long)seed,
               fuzzables, never, rounds, calls);
    return failures > 0;
}

void arm(void)
{
}

void disarm(void)
{
}
