/* What structures.rs and raw.rs say of PMIx, compared with the installed header: a library is built only where this compiles. */
#include <pmix.h>
#include <stddef.h>
#include <string.h>

#define SAME(what, value) _Static_assert((what) == (value), #what " is not " #value)

SAME(sizeof(pmix_proc_t), 260);
SAME(offsetof(pmix_proc_t, rank), 256);
#ifdef SEED_PMIX_MISTAKE
SAME(sizeof(pmix_value_t), 40);
#else
SAME(sizeof(pmix_value_t), 32);
#endif
SAME(offsetof(pmix_value_t, data), 8);
SAME(sizeof(pmix_info_t), 552);
SAME(offsetof(pmix_info_t, flags), 512);
SAME(offsetof(pmix_info_t, value), 520);
SAME(sizeof(pmix_status_t), 4);
SAME(sizeof(pmix_scope_t), 1);

SAME(PMIX_SUCCESS, 0);
SAME(PMIX_ERR_TIMEOUT, -24);
SAME(PMIX_ERR_NOT_FOUND, -46);
SAME(PMIX_OPERATION_SUCCEEDED, -157);
SAME(PMIX_GLOBAL, 3);
SAME(PMIX_RANK_WILDCARD, UINT32_MAX - 1);
SAME(PMIX_BOOL, 1);
SAME(PMIX_STRING, 3);
SAME(PMIX_SIZE, 4);
SAME(PMIX_INT, 6);
SAME(PMIX_INT32, 9);
SAME(PMIX_UINT16, 13);
SAME(PMIX_UINT32, 14);
SAME(PMIX_UINT64, 15);

/* gcc compares texts when it compiles. */
#define TEXT(what, text) _Static_assert(sizeof(what) == sizeof(text) && __builtin_strcmp(what, text) == 0, #what " is not " text)

TEXT(PMIX_JOB_SIZE, "pmix.job.size");
TEXT(PMIX_UNIV_SIZE, "pmix.univ.size");
TEXT(PMIX_HOSTNAME, "pmix.hname");
TEXT(PMIX_APPNUM, "pmix.appnum");
TEXT(PMIX_COLLECT_DATA, "pmix.collect");
TEXT(PMIX_TIMEOUT, "pmix.timeout");

pmix_status_t (*init)(pmix_proc_t *, pmix_info_t[], size_t) = PMIx_Init;
pmix_status_t (*finalize)(const pmix_info_t[], size_t) = PMIx_Finalize;
pmix_status_t (*put)(pmix_scope_t, const char[], pmix_value_t *) = PMIx_Put;
pmix_status_t (*commit)(void) = PMIx_Commit;
pmix_status_t (*get)(const pmix_proc_t *, const char[], const pmix_info_t[], size_t, pmix_value_t **) = PMIx_Get;
pmix_status_t (*fence)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void *) = PMIx_Fence_nb;
pmix_status_t (*end)(int, const char[], pmix_proc_t[], size_t) = PMIx_Abort;
const char *(*words)(pmix_status_t) = PMIx_Error_string;
const char *(*version)(void) = PMIx_Get_version;
void (*fenced)(pmix_status_t, void *);
pmix_op_cbfunc_t *same_callback = &fenced;
