/* What the generated calls and the driver share. */
#ifndef BAD_INPUT_H
#define BAD_INPUT_H
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#define ROOM 64 /* elements of each array, more than any call looks at */
#define FILL(array, value)                                                                                                \
    do {                                                                                                                  \
        for (int i_ = 0; i_ < ROOM; i_++)                                                                                 \
            (array)[i_] = (value);                                                                                        \
    } while (0)
#define CLEAR(array) memset(array, 0, sizeof(array))

enum state {
    MISSING,     /* raises the honest error, whatever the arguments are */
    WORKS,       /* returns an error code */
    CANNOT_FAIL, /* returns something else */
    NEVER        /* is not called */
};

struct function {
    const char *name;
    int (*call)(int wrong); /* with wrong argument number `wrong`, or with right ones only if 0; the error code */
    enum state state;
    int any_time; /* may be called before MPI_Init and after MPI_Finalize, MPI 5.0 section 11.4.1 */
    int gives;    /* the class of a call with right arguments */
};
extern const struct function functions[];

struct wrong {
    int function;
    int number; /* what to pass to its `call`; 0 ends the table */
    const char *argument;
    const char *value;
    int class;
    const char *class_name;
};
extern const struct wrong wrongs[];

/* One object of each kind in force, and handles of others that were freed. */
struct objects {
    MPI_Comm comm;
    MPI_Datatype datatype;
    MPI_Group group;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Request request;
    MPI_Session session;
    MPI_Win win;
    MPI_File file;
    MPI_Status status;
    int comm_keyval, type_keyval, win_keyval;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_session measuring;
    MPI_T_pvar_handle pvar;
    MPI_T_event_registration registration;
};
extern struct objects live, stale;
extern char room[1 << 16];

extern int alive;    /* between MPI_Init and MPI_Finalize */
extern int attached; /* live.comm has a buffer */
extern char too_long[8192];

/* Around the call itself: what prepares it may fail quietly. */
void arm(void);
void disarm(void);

void *good_buffer(void); /* another one at each call: buffers of one call must not overlap */

int works(const char *name); /* whether the library has this function */

/* New objects, for calls that use them up; what a call leaves is freed after it. */
MPI_Comm fresh_comm(void);
MPI_Comm fresh_topology(int kind); /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH, of a process that is its own neighbour */
MPI_Datatype fresh_datatype(void);
MPI_Group fresh_group(void);
MPI_Op fresh_op(void);
MPI_Info fresh_info(void);
MPI_Errhandler fresh_errhandler(void);
MPI_Request fresh_request(void);    /* a send to MPI_PROC_NULL, not yet waited for */
MPI_Request fresh_persistent(void); /* the same as a persistent request */
MPI_Request fresh_partitioned(int kind); /* with MPI_PROC_NULL, one partition: 0 a send, 1 a started send, 2 a receive */
MPI_Request fresh_generalized(void);
/* For calls that are given an error handler: what the mode wants of errors. */
extern MPI_Errhandler in_force;
MPI_Session fresh_session(void);
MPI_Win fresh_win(void);
/* Likewise, with an epoch open: of MPI_Win_lock_all, MPI_Win_lock of rank 0, MPI_Win_fence (with an access), MPI_Win_start, MPI_Win_post. */
MPI_Win opened_win(void);
MPI_Win locked_win(void);
MPI_Win fenced_win(void);
MPI_Win started_win(void);
MPI_Win posted_win(void);
MPI_Win fresh_dynamic(void);
MPI_File fresh_file(void);
int fresh_comm_keyval(void);
int fresh_type_keyval(void);
int fresh_win_keyval(void);
int fresh_error_class(void);
int fresh_error_code(void);
MPI_T_cvar_handle fresh_cvar(void); /* of a variable that may be written at any time */
MPI_T_enum some_enum(void);
MPI_T_pvar_session measuring(void); /* always the same one */
MPI_T_pvar_session fresh_measuring(void);
MPI_T_pvar_handle fresh_pvar(void); /* in measuring() */
MPI_T_event_registration fresh_registration(void);

void attach_buffer(void);
void detach_buffers(void);
void detach_session(void);

void drop_comm(MPI_Comm comm);
void drop_datatype(MPI_Datatype datatype);
void drop_group(MPI_Group group);
void drop_op(MPI_Op op);
void drop_info(MPI_Info info);
void drop_errhandler(MPI_Errhandler errhandler);
void drop_request(MPI_Request request);
void drop_session(MPI_Session session);
void drop_win(MPI_Win win);
void drop_file(MPI_File file);
void drop_cvar(MPI_T_cvar_handle cvar);
void drop_measuring(MPI_T_pvar_session session);
void drop_pvar(MPI_T_pvar_handle pvar);
void drop_registration(MPI_T_event_registration registration);

/* Functions of the user's. */
void user_errors(MPI_Comm *comm, int *code, ...);
void user_session_errors(MPI_Session *session, int *code, ...);
void user_win_errors(MPI_Win *win, int *code, ...);
void user_file_errors(MPI_File *file, int *code, ...);
void user_op(void *in, void *inout, int *length, MPI_Datatype *datatype);
void user_op_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *datatype);
void user_event(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data);
char *fresh_datarep(void);
int user_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra);
int user_conversion(void *user, MPI_Datatype datatype, int count, void *in_file, MPI_Offset position, void *extra);
int user_conversion_c(void *user, MPI_Datatype datatype, MPI_Count count, void *in_file, MPI_Offset position, void *extra);
int user_query(void *extra, MPI_Status *status);
int user_free(void *extra);
int user_cancel(void *extra, int complete);
#endif
