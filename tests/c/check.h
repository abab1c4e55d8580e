/*
 * What the self-checking programs share. A rank that finds something wrong says where, what it expected and what it
 * got, goes on, and exits non-zero by itself. The verdict needs no communication, because that is what is under test:
 * the exit status of the job is the verdict, "ok NAME" is for the reader.
 */
#ifndef CHECK_H
#define CHECK_H
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_PRINTED 12 /* findings shown per rank; one broken path tends to produce thousands */

static int check_rank, check_ranks, check_failures;
static const char *check_name = "?";

static inline void check_fail(const char *file, int line, const char *format, ...)
{
    char text[1024]; /* written in one piece, since ranks share the terminal */
    va_list args;
    int at;
    if (++check_failures > CHECK_PRINTED)
        return;
    at = snprintf(text, sizeof text, "FAIL %s rank %d of %d, %s:%d: ", check_name, check_rank, check_ranks, file, line);
    va_start(args, format);
    if (at > 0 && at < (int)sizeof text)
        vsnprintf(text + at, sizeof text - (size_t)at, format, args);
    va_end(args);
    puts(text);
    fflush(stdout);
}

#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        if (!(condition))                                                                                                 \
            check_fail(__FILE__, __LINE__, "expected %s", #condition);                                                    \
    } while (0)

/* The same with words of the caller, a printf format. */
#define CHECK_MSG(condition, ...)                                                                                         \
    do {                                                                                                                  \
        if (!(condition))                                                                                                 \
            check_fail(__FILE__, __LINE__, __VA_ARGS__);                                                                  \
    } while (0)

/* For integers of any width. */
#define CHECK_EQ(got, want)                                                                                               \
    do {                                                                                                                  \
        long long got_ = (long long)(got), want_ = (long long)(want);                                                     \
        if (got_ != want_)                                                                                                \
            check_fail(__FILE__, __LINE__, "%s: expected %lld, got %lld", #got, want_, got_);                             \
    } while (0)

/* `n` pattern bytes of `seed` at `p`; prints the first that differs. */
#define CHECK_BYTES(p, n, seed) check_bytes(__FILE__, __LINE__, p, n, seed)

/* Source, tag and byte count of a status of a receive of MPI_BYTE. */
#define CHECK_STATUS(status, source, tag, bytes)                                                                          \
    do {                                                                                                                  \
        int count_ = -1;                                                                                                  \
        MPI_Get_count(&(status), MPI_BYTE, &count_);                                                                      \
        CHECK_EQ((status).MPI_SOURCE, source);                                                                            \
        CHECK_EQ((status).MPI_TAG, tag);                                                                                  \
        CHECK_MSG(count_ == (int)(bytes), "MPI_Get_count: expected %d, got %d", (int)(bytes), count_);                    \
    } while (0)

/* The error class of a return code of any MPI call. */
static inline int error_class(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

#define CHECK_CLASS(call, want)                                                                                           \
    do {                                                                                                                  \
        int class_ = error_class(call);                                                                                   \
        CHECK_MSG(class_ == (want), "%s: expected class %s (%d), got %d", #call, #want, want, class_);                    \
    } while (0)

static inline void *check_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (p == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", check_name, bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    return p;
}

/* Depends on the place beyond 8 bits and on the seed, so that lost, shifted and swapped pieces all show. */
static inline unsigned char pattern(size_t i, int seed)
{
    return (unsigned char)(i * 167 + (i >> 8) * 13 + (i >> 16) * 5 + (size_t)seed * 59 + 3);
}

static inline void fill(void *p, size_t n, int seed)
{
    unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++)
        bytes[i] = pattern(i, seed);
}

static inline void check_bytes(const char *file, int line, const void *p, size_t n, int seed)
{
    const unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != pattern(i, seed)) {
            check_fail(file, line, "byte %zu of %zu: expected 0x%02x, got 0x%02x", i, n, pattern(i, seed), bytes[i]);
            return;
        }
}

static inline void start(int *argc, char ***argv, const char *name)
{
    check_name = name;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
}

/* For the few places where another MPI is known to be wrong, so that the programs stay green everywhere else. Never used
 * to excuse the library under test. */
static inline int library_is(const char *prefix)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (version[0] == '\0')
        MPI_Get_library_version(version, &length);
    return strncmp(version, prefix, strlen(prefix)) == 0;
}

/* The exit status of this rank; says what it will be. */
static inline int verdict(void)
{
    if (check_failures > 0)
        printf("FAIL %s rank %d: %d findings\n", check_name, check_rank, check_failures);
    else if (check_rank == 0)
        printf("ok %s\n", check_name);
    fflush(stdout);
    return check_failures > 0;
}

/* The last line of main: `return finish();` */
static inline int finish(void)
{
    MPI_Finalize();
    return verdict();
}
#endif
