/* What abi.rs says of UCT, compared with the installed header: a library is built only where this compiles. */
#include <stddef.h>
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#define SAME(what, value) _Static_assert((what) == (value), #what " is not " #value)
#define PLACE(type, field, value) SAME(offsetof(type, field), value)

#if UCT_VERNO_MAJOR != 1 || UCT_VERNO_MINOR < 13 || UCT_VERNO_MINOR > 22
#error "btl/uct knows UCX 1.13 to 1.22"
#endif
#if UCT_VERNO_MINOR < 16
_Static_assert(sizeof(ucs_callbackq_elem_t) == 24, "a callback of UCX 1.13 to 1.15");
#else
_Static_assert(sizeof(ucs_callbackq_elem_t) == 16, "a callback of UCX 1.16 to 1.22");
#endif
/* Of this one the mask says what is there. */
_Static_assert(sizeof(uct_ep_params_t) <= 256, "the parameters of an endpoint");
/* What is filled in must have room. */
_Static_assert(sizeof(uct_iface_attr_t) <= 1024, "the attributes of an interface");
_Static_assert(sizeof(uct_md_attr_t) <= 608, "the attributes of a memory domain");

SAME(sizeof(ucs_status_t), 1);
SAME(sizeof(uct_component_attr_t), 48);
PLACE(uct_component_attr_t, md_resource_count, 24);
PLACE(uct_component_attr_t, md_resources, 32);
PLACE(uct_component_attr_t, flags, 40);
SAME(sizeof(uct_md_resource_desc_t), 16);
SAME(sizeof(uct_tl_resource_desc_t), 52);
PLACE(uct_tl_resource_desc_t, dev_name, 10);
PLACE(uct_tl_resource_desc_t, dev_type, 44);

PLACE(uct_md_attr_t, cap.flags, 16);
PLACE(uct_md_attr_t, rkey_packed_size, 88);
PLACE(uct_iface_attr_t, cap.put.max_zcopy, 24);
PLACE(uct_iface_attr_t, cap.get.min_zcopy, 72);
PLACE(uct_iface_attr_t, cap.get.max_zcopy, 80);
PLACE(uct_iface_attr_t, cap.am.max_short, 112);
PLACE(uct_iface_attr_t, cap.am.max_bcopy, 120);
#ifdef SEED_UCT_MISTAKE
PLACE(uct_iface_attr_t, cap.flags, 304);
#else
PLACE(uct_iface_attr_t, cap.flags, 296);
#endif
PLACE(uct_iface_attr_t, cap.event_flags, 304);
PLACE(uct_iface_attr_t, device_addr_len, 312);
PLACE(uct_iface_attr_t, iface_addr_len, 320);
PLACE(uct_iface_attr_t, bandwidth, 480);
PLACE(uct_iface_attr_t, latency, 496);

SAME(sizeof(uct_iface_params_t), 304);
PLACE(uct_iface_params_t, open_mode, 136);
PLACE(uct_iface_params_t, mode.device.tl_name, 144);
PLACE(uct_iface_params_t, mode.device.dev_name, 152);
PLACE(uct_iface_params_t, stats_root, 184);
PLACE(uct_iface_params_t, rx_headroom, 192);
PLACE(uct_iface_params_t, err_handler_arg, 200);
PLACE(uct_iface_params_t, err_handler, 208);
PLACE(uct_iface_params_t, err_handler_flags, 216);
PLACE(uct_iface_params_t, features, 296);
PLACE(uct_ep_params_t, iface, 8);
PLACE(uct_ep_params_t, dev_addr, 24);
PLACE(uct_ep_params_t, iface_addr, 32);

SAME(sizeof(uct_iov_t), 40);
PLACE(uct_iov_t, length, 8);
PLACE(uct_iov_t, memh, 16);
PLACE(uct_iov_t, count, 32);
SAME(sizeof(uct_completion_t), 16);
PLACE(uct_completion_t, count, 8);
PLACE(uct_completion_t, status, 12);
SAME(sizeof(uct_rkey_bundle_t), 24);
PLACE(uct_rkey_bundle_t, handle, 8);
PLACE(ucs_callbackq_elem_t, arg, 8);
PLACE(uct_worker_t, progress_q, 0);
PLACE(ucs_callbackq_t, fast_elems, 0);

PLACE(uct_ep_t, iface, 0);
PLACE(uct_iface_t, ops, 0);
PLACE(uct_iface_ops_t, ep_put_zcopy, 16);
PLACE(uct_iface_ops_t, ep_get_zcopy, 40);
PLACE(uct_iface_ops_t, ep_am_short, 48);
PLACE(uct_iface_ops_t, ep_am_bcopy, 64);
PLACE(uct_iface_ops_t, iface_flush, 304);
PLACE(uct_iface_ops_t, iface_progress_enable, 320);

SAME(UCS_OK, 0);
SAME(UCS_INPROGRESS, 1);
SAME(UCS_ERR_NO_RESOURCE, -2);
SAME(UCS_ERR_INVALID_ADDR, -7);
SAME(UCS_ERR_UNSUPPORTED, -22);
SAME(UCT_COMPONENT_NAME_MAX, 16);
SAME(UCT_MD_NAME_MAX, 16);
SAME(UCT_TL_NAME_MAX, 10);
SAME(UCT_DEVICE_NAME_MAX, 32);
SAME(UCT_COMPONENT_ATTR_FIELD_NAME, 1 << 0);
SAME(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT, 1 << 1);
SAME(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES, 1 << 2);
SAME(UCT_DEVICE_TYPE_SHM, 1);
SAME(UCT_DEVICE_TYPE_ACC, 2);
SAME(UCT_DEVICE_TYPE_SELF, 3);
SAME(UCT_IFACE_FLAG_AM_SHORT, 1ULL << 0);
SAME(UCT_IFACE_FLAG_AM_BCOPY, 1ULL << 1);
SAME(UCT_IFACE_FLAG_PUT_ZCOPY, 1ULL << 6);
SAME(UCT_IFACE_FLAG_GET_ZCOPY, 1ULL << 10);
SAME(UCT_IFACE_FLAG_CONNECT_TO_IFACE, 1ULL << 40);
SAME(UCT_IFACE_FLAG_AM_DUP, 1ULL << 43);
SAME(UCT_IFACE_FLAG_CB_SYNC, 1ULL << 44);
SAME(UCT_IFACE_FLAG_EVENT_SEND_COMP, 1ULL << 0);
SAME(UCT_EVENT_SEND_COMP, 1 << 0);
SAME(UCT_IFACE_FLAG_EVENT_RECV, 1ULL << 1);
SAME(UCT_EVENT_RECV, 1 << 1);
SAME(UCT_IFACE_FLAG_EVENT_FD, 1ULL << 3);
SAME(UCT_MD_FLAG_REG, 1 << 1);
SAME(UCT_MD_FLAG_NEED_MEMH, 1 << 2);
SAME(UCT_MD_FLAG_NEED_RKEY, 1 << 3);
SAME(UCT_MD_MEM_ACCESS_RMA, 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9);
SAME(UCT_IFACE_PARAM_FIELD_CPU_MASK, 1 << 0);
SAME(UCT_IFACE_PARAM_FIELD_OPEN_MODE, 1 << 1);
SAME(UCT_IFACE_PARAM_FIELD_DEVICE, 1 << 2);
SAME(UCT_IFACE_PARAM_FIELD_STATS_ROOT, 1 << 4);
SAME(UCT_IFACE_PARAM_FIELD_RX_HEADROOM, 1 << 5);
SAME(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG, 1 << 6);
SAME(UCT_IFACE_PARAM_FIELD_ERR_HANDLER, 1 << 7);
SAME(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS, 1 << 8);
SAME(UCT_IFACE_PARAM_FIELD_FEATURES, 1 << 18);
SAME(UCT_IFACE_OPEN_MODE_DEVICE, 1 << 0);
SAME(UCT_IFACE_FEATURE_AM, 1 << 0);
SAME(UCT_IFACE_FEATURE_PUT, 1 << 1);
SAME(UCT_IFACE_FEATURE_GET, 1 << 2);
SAME(UCT_EP_PARAM_FIELD_IFACE, 1 << 0);
SAME(UCT_EP_PARAM_FIELD_DEV_ADDR, 1 << 2);
SAME(UCT_EP_PARAM_FIELD_IFACE_ADDR, 1 << 3);
SAME(UCT_PROGRESS_SEND, 1 << 0);
SAME(UCT_PROGRESS_RECV, 1 << 1);
SAME(UCS_ASYNC_MODE_POLL, 3);
SAME(UCS_THREAD_MODE_SERIALIZED, 1);
SAME(UCT_INVALID_RKEY, UINTPTR_MAX);

/* Each is an error if the function has other arguments. */
const char *(*status_string)(ucs_status_t) = ucs_status_string;
ucs_status_t (*async_create)(ucs_async_mode_t, ucs_async_context_t **) = ucs_async_context_create;
void (*async_poll)(ucs_async_context_t *) = ucs_async_poll;
ucs_status_t (*query_components)(uct_component_h **, unsigned *) = uct_query_components;
ucs_status_t (*component_query)(uct_component_h, uct_component_attr_t *) = uct_component_query;
ucs_status_t (*md_config_read)(uct_component_h, const char *, const char *, uct_md_config_t **) = uct_md_config_read;
ucs_status_t (*md_open)(uct_component_h, const char *, const uct_md_config_t *, uct_md_h *) = uct_md_open;
void (*md_close)(uct_md_h) = uct_md_close;
ucs_status_t (*md_query)(uct_md_h, uct_md_attr_t *) = uct_md_query;
ucs_status_t (*tl_resources)(uct_md_h, uct_tl_resource_desc_t **, unsigned *) = uct_md_query_tl_resources;
void (*release_resources)(uct_tl_resource_desc_t *) = uct_release_tl_resource_list;
void (*config_release)(void *) = uct_config_release;
ucs_status_t (*config_modify)(void *, const char *, const char *) = uct_config_modify;
ucs_status_t (*iface_config)(uct_md_h, const char *, const char *, const char *, uct_iface_config_t **) =
    uct_md_iface_config_read;
ucs_status_t (*worker_create)(ucs_async_context_t *, ucs_thread_mode_t, uct_worker_h *) = uct_worker_create;
ucs_status_t (*iface_open)(uct_md_h, uct_worker_h, const uct_iface_params_t *, const uct_iface_config_t *, uct_iface_h *) =
    uct_iface_open;
ucs_status_t (*iface_query)(uct_iface_h, uct_iface_attr_t *) = uct_iface_query;
ucs_status_t (*device_address)(uct_iface_h, uct_device_addr_t *) = uct_iface_get_device_address;
ucs_status_t (*iface_address)(uct_iface_h, uct_iface_addr_t *) = uct_iface_get_address;
int (*is_reachable)(const uct_iface_h, const uct_device_addr_t *, const uct_iface_addr_t *) = uct_iface_is_reachable;
ucs_status_t (*event_fd)(uct_iface_h, int *) = uct_iface_event_fd_get;
ucs_status_t (*event_arm)(uct_iface_h, unsigned) = uct_iface_event_arm;
ucs_status_t (*set_am_handler)(uct_iface_h, uint8_t, uct_am_callback_t, void *, uint32_t) = uct_iface_set_am_handler;
ucs_status_t (*ep_create)(const uct_ep_params_t *, uct_ep_h *) = uct_ep_create;
ucs_status_t (*mem_reg)(uct_md_h, void *, size_t, unsigned, uct_mem_h *) = uct_md_mem_reg;
ucs_status_t (*mem_dereg)(uct_md_h, uct_mem_h) = uct_md_mem_dereg;
ucs_status_t (*mkey_pack)(uct_md_h, uct_mem_h, void *) = uct_md_mkey_pack;
ucs_status_t (*rkey_unpack)(uct_component_h, const void *, uct_rkey_bundle_t *) = uct_rkey_unpack;
ucs_status_t (*rkey_release)(uct_component_h, const uct_rkey_bundle_t *) = uct_rkey_release;
ucs_status_t (*am_callback)(void *, void *, size_t, unsigned);
uct_am_callback_t *same_am_callback = &am_callback;
ucs_status_t (*err_handler)(void *, uct_ep_h, ucs_status_t);
uct_error_handler_t *same_err_handler = &err_handler;

/* Each assignment is an error if the function in the table has other arguments. */
void functions(uct_iface_h iface, uct_completion_t *completion)
{
    ucs_status_t (*put)(uct_ep_h, const uct_iov_t *, size_t, uint64_t, uct_rkey_t, uct_completion_t *) = iface->ops.ep_put_zcopy;
    ucs_status_t (*get)(uct_ep_h, const uct_iov_t *, size_t, uint64_t, uct_rkey_t, uct_completion_t *) = iface->ops.ep_get_zcopy;
    ucs_status_t (*am_short)(uct_ep_h, uint8_t, uint64_t, const void *, unsigned) = iface->ops.ep_am_short;
    ssize_t (*am_bcopy)(uct_ep_h, uint8_t, size_t (*)(void *, void *), void *, unsigned) = iface->ops.ep_am_bcopy;
    ucs_status_t (*flush)(uct_iface_h, unsigned, uct_completion_t *) = iface->ops.iface_flush;
    void (*progress_enable)(uct_iface_h, unsigned) = iface->ops.iface_progress_enable;
    void (*call)(uct_completion_t *) = completion->func;
    (void)put, (void)get, (void)am_short, (void)am_bcopy, (void)flush, (void)progress_enable, (void)call;
}
