/*
 * What the programs about the tool interface share. MPI_T functions return their class and call no error handler.
 */
#ifndef TOOL_H
#define TOOL_H
#include "check.h"

#define TOOL(call, want)                                                                                                  \
    do {                                                                                                                  \
        int code_ = (call);                                                                                               \
        CHECK_MSG(code_ == (want), "%s: expected %s (%d), got %d", #call, #want, want, code_);                            \
    } while (0)
#define OK(call) TOOL(call, MPI_SUCCESS)

/* What another MPI is known to do otherwise is asked of this one only. */
static inline int is_ours(void)
{
    return library_is("ompi-rs");
}

static inline void tool_start(void)
{
    int provided = -1;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_SINGLE);
}
#endif
