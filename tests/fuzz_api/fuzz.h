/*
 * What the generated calls and the fuzzer share. Every pick draws from the same sequence on all ranks and writes the
 * argument's C text into the log, so that the last calls can be pasted into a program.
 */
#ifndef FUZZ_H
#define FUZZ_H
#include "bad_input.h"
#include <stdint.h>

#define OUT(type) ((type[ROOM]){0})
#define ARRAY(type, value) ((type[ROOM]){[0 ... ROOM - 1] = (value)})
#define FIRST(type, value) ((type[ROOM]){(value)})

struct fuzzed {
    const char *name;
    int (*call)(void);
    int collective; /* ranks must agree on what they pass */
    int waits;      /* may wait for others: gets MPI_PROC_NULL and completed requests only */
    int alone;      /* with one rank only */
};
extern const struct fuzzed fuzzed[];

extern int huge;       /* counts of this call may be far too large: its buffers and arrays are null */
extern int call_count; /* what the counts of this call say if they are right */

void begin(const struct fuzzed *function);
void log_text(const char *text);
int ended(int code);
int one_in(int n);
/* Which of `wrongs` wrong values to pass: 0 is the right one, mostly. */
int choose(int wrongs);

void *pick_buffer(const char *own);
long long pick_count(long long least_wrong);
int pick_rank(int root);
int pick_tag(int right);
long long pick_small(long long right);

#define HANDLES(type, kind)                                                                                               \
    type pick_##kind(void);       /* a value */                                                                           \
    type *pick_##kind##_in(void); /* the place of one that the call may use up */                                         \
    type *pick_##kind##_out(void) /* the place of a new one */
HANDLES(MPI_Comm, comm);
HANDLES(MPI_Datatype, datatype);
HANDLES(MPI_Group, group);
HANDLES(MPI_Op, op);
HANDLES(MPI_Info, info);
HANDLES(MPI_Errhandler, errhandler);
HANDLES(MPI_Request, request);
MPI_Datatype pick_small_datatype(void); /* whose data lies within some bytes */
void pick_requests(MPI_Request *place);
void drop_keyval(int keyval);
void drop_message(MPI_Message message);
#endif
