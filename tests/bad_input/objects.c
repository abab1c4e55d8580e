/*
 * The objects that calls get as right arguments. Made anew for each call that uses one up; whatever is left is freed
 * after the call, when errors return: freeing what was freed already is an error that says so.
 */
#include "bad_input.h"
#include <stdio.h>

struct objects live, stale;
char room[1 << 16], too_long[8192];
int alive, attached;

#define FRESH 256

static struct {
    MPI_Comm comm[FRESH];
    MPI_Datatype datatype[FRESH];
    MPI_Group group[FRESH];
    MPI_Op op[FRESH];
    MPI_Info info[FRESH];
    MPI_Errhandler errhandler[FRESH];
    MPI_Request request[FRESH];
    MPI_Session session[FRESH];
    MPI_Win win[FRESH];
    MPI_File file[FRESH];
    MPI_T_cvar_handle cvar[FRESH];
    MPI_T_pvar_session measuring[FRESH];
    MPI_T_pvar_handle pvar[FRESH];
    MPI_T_event_registration registration[FRESH];
    int comms, datatypes, groups, ops, infos, errhandlers, requests, sessions, wins, files, cvars, measurings, pvars, registrations;
} fresh;

/* Remembers a handle and returns it. */
#define KEEP(kind, handle) (fresh.kind[fresh.kind##s++ % FRESH] = (handle))

int works(const char *name)
{
    for (const struct function *function = functions; function->name; function++)
        if (!strcmp(function->name, name))
            return function->state == WORKS;
    return 0;
}

void *good_buffer(void)
{
    static char buffers[16][4096];
    static unsigned next;
    return buffers[next++ % 16];
}

MPI_Comm fresh_comm(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (!alive)
        return 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return KEEP(comm, comm);
}

MPI_Comm fresh_topology(int kind)
{
    MPI_Comm comm = MPI_COMM_NULL;
    const int one[1] = {1}, zero[1] = {0};
    if (!alive)
        return 0;
    if (kind == MPI_CART)
        MPI_Cart_create(live.comm, 1, one, zero, 0, &comm);
    else if (kind == MPI_GRAPH)
        MPI_Graph_create(live.comm, 1, one, zero, 0, &comm);
    else
        MPI_Dist_graph_create_adjacent(live.comm, 1, zero, one, 1, zero, one, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_set_errhandler(comm, in_force);
    return KEEP(comm, comm);
}

MPI_Datatype fresh_datatype(void)
{
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    if (!alive)
        return 0;
    MPI_Type_contiguous(2, MPI_INT, &datatype);
    MPI_Type_commit(&datatype);
    return KEEP(datatype, datatype);
}

MPI_Group fresh_group(void)
{
    MPI_Group group = MPI_GROUP_NULL;
    if (!alive)
        return 0;
    MPI_Comm_group(MPI_COMM_SELF, &group);
    return KEEP(group, group);
}

MPI_Op fresh_op(void)
{
    MPI_Op op = MPI_OP_NULL;
    if (!alive)
        return 0;
    MPI_Op_create(user_op, 1, &op);
    return KEEP(op, op);
}

MPI_Info fresh_info(void)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    return KEEP(info, info);
}

MPI_Errhandler fresh_errhandler(void)
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    /* Of all kinds of error handlers this one may be made before MPI_Init, if at all. */
    if (works("MPI_Session_create_errhandler"))
        MPI_Session_create_errhandler(user_session_errors, &errhandler);
    if (errhandler == MPI_ERRHANDLER_NULL && alive)
        MPI_Comm_create_errhandler(user_errors, &errhandler);
    /* A predefined one may be freed, too, without effect: MPI_Comm_get_errhandler gives it and section 9.3.4 asks for it. */
    if (errhandler == MPI_ERRHANDLER_NULL)
        return MPI_ERRORS_RETURN;
    return KEEP(errhandler, errhandler);
}

MPI_Request fresh_request(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (!alive)
        return 0;
    MPI_Isend(room, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request);
    return KEEP(request, request);
}

MPI_Request fresh_persistent(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (!alive)
        return 0;
    MPI_Send_init(room, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &request);
    return KEEP(request, request);
}

MPI_Request fresh_partitioned(int kind)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (!alive)
        return 0;
    if (kind == 2)
        MPI_Precv_init(room, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    else
        MPI_Psend_init(room, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    if (kind == 1)
        MPI_Start(&request);
    return KEEP(request, request);
}

MPI_Request fresh_generalized(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (!alive)
        return 0;
    MPI_Grequest_start(user_query, user_free, user_cancel, room, &request);
    return KEEP(request, request);
}

MPI_Errhandler in_force = MPI_ERRORS_RETURN;

MPI_Session fresh_session(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    if (works("MPI_Session_init"))
        MPI_Session_init(MPI_INFO_NULL, in_force, &session);
    return KEEP(session, session);
}

/* Files come and go while errors are returned: these calls are not what is tested. */
static void close_file(MPI_File *file)
{
    MPI_Errhandler before;
    MPI_File_get_errhandler(MPI_FILE_NULL, &before);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_File_close(file);
    MPI_File_set_errhandler(MPI_FILE_NULL, before);
}

MPI_Win fresh_win(void)
{
    MPI_Win win = MPI_WIN_NULL;
    if (!alive)
        return 0;
    MPI_Win_create(room, sizeof room, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, in_force);
    return KEEP(win, win);
}

MPI_Win opened_win(void)
{
    MPI_Win win = fresh_win();
    if (alive)
        MPI_Win_lock_all(0, win);
    return win;
}

MPI_Win locked_win(void)
{
    MPI_Win win = fresh_win();
    if (alive)
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    return win;
}

MPI_Win fenced_win(void)
{
    static char byte;
    MPI_Win win = fresh_win();
    if (alive) {
        MPI_Win_fence(0, win);
        MPI_Put(&byte, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, win);
    }
    return win;
}

MPI_Win started_win(void)
{
    MPI_Win win = fresh_win();
    if (alive)
        MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    return win;
}

MPI_Win posted_win(void)
{
    MPI_Win win = fresh_win();
    if (alive)
        MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    return win;
}

MPI_Win fresh_dynamic(void)
{
    MPI_Win win = MPI_WIN_NULL;
    if (!alive)
        return 0;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, in_force);
    return KEEP(win, win);
}

MPI_File fresh_file(void)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Errhandler in_force;
    if (!alive)
        return 0;
    /* It is not this call that is tested. */
    MPI_File_get_errhandler(MPI_FILE_NULL, &in_force);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_File_open(MPI_COMM_SELF, "bad_input.data", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(MPI_FILE_NULL, in_force);
    return KEEP(file, file);
}

int fresh_comm_keyval(void)
{
    int keyval = MPI_KEYVAL_INVALID;
    if (!alive)
        return keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

int fresh_type_keyval(void)
{
    int keyval = MPI_KEYVAL_INVALID;
    if (!alive)
        return keyval;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

int fresh_win_keyval(void)
{
    int keyval = MPI_KEYVAL_INVALID;
    if (!alive)
        return keyval;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

int fresh_error_class(void)
{
    int class = MPI_SUCCESS;
    MPI_Add_error_class(&class);
    return class;
}

int fresh_error_code(void)
{
    int code = MPI_SUCCESS;
    MPI_Add_error_code(fresh_error_class(), &code);
    return code;
}

/* The tool interface stays initialized, as often as a tool that is called at random may end it. */
static int tool_variable(const char *name)
{
    int index = -1, provided;
    if (works("MPI_T_init_thread") && MPI_T_cvar_get_index(name, &index) == MPI_T_ERR_NOT_INITIALIZED) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_cvar_get_index(name, &index);
    }
    return index;
}

MPI_T_cvar_handle fresh_cvar(void)
{
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    int count;
    MPI_T_cvar_handle_alloc(tool_variable("pml_ob1_rndv_eager_limit"), NULL, &cvar, &count);
    return KEEP(cvar, cvar);
}

MPI_T_enum some_enum(void)
{
    MPI_T_enum words = MPI_T_ENUM_NULL;
    MPI_T_cvar_get_info(tool_variable("mpi_compat_mpi3"), NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL);
    return words;
}

MPI_T_pvar_session measuring(void)
{
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    if (session == MPI_T_PVAR_SESSION_NULL && works("MPI_T_pvar_session_create")) {
        tool_variable("mpi");
        MPI_T_pvar_session_create(&session);
    }
    return session;
}

MPI_T_pvar_session fresh_measuring(void)
{
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    tool_variable("mpi");
    MPI_T_pvar_session_create(&session);
    return KEEP(measuring, session);
}

MPI_T_event_registration fresh_registration(void)
{
    MPI_T_event_registration registration = 0;
    if (!alive)
        return 0;
    tool_variable("mpi");
    MPI_T_event_handle_alloc(0, &live.comm, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, room, user_event);
    return KEEP(registration, registration);
}

MPI_T_pvar_handle fresh_pvar(void)
{
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count;
    measuring();
    MPI_T_pvar_get_index("pml_ob1_rts_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_handle_alloc(measuring(), index, NULL, &pvar, &count);
    return KEEP(pvar, pvar);
}

void drop_comm(MPI_Comm comm)
{
    MPI_Comm_free(&comm);
}

void drop_datatype(MPI_Datatype datatype)
{
    MPI_Type_free(&datatype);
}

void drop_group(MPI_Group group)
{
    MPI_Group_free(&group);
}

void drop_op(MPI_Op op)
{
    MPI_Op_free(&op);
}

void drop_info(MPI_Info info)
{
    MPI_Info_free(&info);
}

void drop_errhandler(MPI_Errhandler errhandler)
{
    MPI_Errhandler_free(&errhandler);
}

void drop_request(MPI_Request request)
{
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) {
        MPI_Grequest_complete(request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /* A persistent one is inactive now and still there. */
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

void drop_session(MPI_Session session)
{
    MPI_Session_finalize(&session);
}

void drop_win(MPI_Win win)
{
    /* Whatever epoch is open ends, so that it can be freed; the group of each is empty. */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_unlock(0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

void drop_file(MPI_File file)
{
    close_file(&file);
}

void drop_cvar(MPI_T_cvar_handle cvar)
{
    MPI_T_cvar_handle_free(&cvar);
}

void drop_measuring(MPI_T_pvar_session session)
{
    MPI_T_pvar_session_free(&session);
}

void drop_pvar(MPI_T_pvar_handle pvar)
{
    MPI_T_pvar_handle_free(measuring(), &pvar);
}

void drop_registration(MPI_T_event_registration registration)
{
    MPI_T_event_handle_free(registration, NULL, NULL);
}

#define DROP(kind)                                                                                                        \
    while (fresh.kind##s > 0)                                                                                             \
        drop_##kind(fresh.kind[--fresh.kind##s % FRESH])

void drop_fresh(void)
{
    DROP(request);
    DROP(file);
    DROP(win);
    DROP(datatype);
    DROP(op);
    DROP(info);
    DROP(errhandler);
    DROP(comm);
    DROP(group);
    DROP(session);
    DROP(cvar);
    DROP(pvar);
    DROP(registration);
    DROP(measuring);
}

void attach_buffer(void)
{
    static char buffer[4096];
    if (!attached && alive)
        attached = MPI_Comm_attach_buffer(live.comm, buffer, sizeof buffer) == MPI_SUCCESS;
}

void detach_buffers(void)
{
    void *at;
    int size;
    if (!alive)
        return;
    MPI_Comm_detach_buffer(live.comm, &at, &size);
    MPI_Buffer_detach(&at, &size);
    attached = 0;
}

void detach_session(void)
{
    void *at;
    int size;
    if (works("MPI_Session_detach_buffer"))
        MPI_Session_detach_buffer(live.session, &at, &size);
}

/* Again before each case: after some hundred others a slot's generation comes round. */
void make_stale(void)
{
    stale.comm = fresh_comm();
    stale.datatype = fresh_datatype();
    stale.group = fresh_group();
    stale.op = fresh_op();
    stale.info = fresh_info();
    stale.errhandler = fresh_errhandler();
    stale.request = fresh_persistent();
    stale.session = fresh_session();
    stale.win = fresh_win();
    stale.file = fresh_file();
    stale.cvar = fresh_cvar();
    stale.pvar = fresh_pvar();
    stale.registration = fresh_registration();
    stale.measuring = fresh_measuring();
    int keyval = stale.comm_keyval = fresh_comm_keyval();
    MPI_Comm_free_keyval(&keyval);
    drop_fresh();
}

/* What may be made at any time. */
void make_info(void)
{
    int provided;
    if (works("MPI_T_init_thread"))
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    memset(too_long, 'x', sizeof too_long - 1);
    live.info = fresh_info();
    fresh.infos = 0;
}

void make_live(void)
{
    live.session = fresh_session();
    live.comm = fresh_comm();
    live.datatype = fresh_datatype();
    live.group = fresh_group();
    live.op = fresh_op();
    live.errhandler = fresh_errhandler();
    live.win = fresh_win();
    live.file = fresh_file();
    live.comm_keyval = fresh_comm_keyval();
    live.type_keyval = fresh_type_keyval();
    live.win_keyval = fresh_win_keyval();
    memset(&fresh, 0, sizeof fresh);
}

void user_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

void user_session_errors(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
}

void user_win_errors(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
}

void user_file_errors(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
}

void user_op(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
    (void)in, (void)inout, (void)length, (void)datatype;
}

void user_op_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *datatype)
{
    (void)in, (void)inout, (void)length, (void)datatype;
}

void user_event(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)instance, (void)registration, (void)safety, (void)data;
}

int user_query(void *extra, MPI_Status *status)
{
    (void)extra;
    return MPI_Status_set_elements(status, MPI_INT, 0);
}

int user_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

int user_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

char *fresh_datarep(void)
{
    static char name[32];
    static int number;
    snprintf(name, sizeof name, "representation %d", number++);
    return name;
}

int user_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    (void)datatype, (void)extra;
    *extent = 8;
    return MPI_SUCCESS;
}

int user_conversion(void *user, MPI_Datatype datatype, int count, void *in_file, MPI_Offset position, void *extra)
{
    (void)user, (void)datatype, (void)count, (void)in_file, (void)position, (void)extra;
    return MPI_SUCCESS;
}

int user_conversion_c(void *user, MPI_Datatype datatype, MPI_Count count, void *in_file, MPI_Offset position, void *extra)
{
    (void)user, (void)datatype, (void)count, (void)in_file, (void)position, (void)extra;
    return MPI_SUCCESS;
}
