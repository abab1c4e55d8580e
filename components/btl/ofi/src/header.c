/* What abi.rs says of libfabric, compared with the installed header: a library is built only where this compiles. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stddef.h>

#define SAME(what, value) _Static_assert((what) == (value), #what " is not " #value)
#define PLACE(type, field, value) SAME(offsetof(struct type, field), value)

SAME(sizeof(struct fi_info), 120);
PLACE(fi_info, caps, 8);
PLACE(fi_info, mode, 16);
PLACE(fi_info, addr_format, 24);
PLACE(fi_info, src_addrlen, 32);
PLACE(fi_info, src_addr, 48);
PLACE(fi_info, tx_attr, 72);
PLACE(fi_info, rx_attr, 80);
PLACE(fi_info, ep_attr, 88);
PLACE(fi_info, domain_attr, 96);
#ifdef SEED_OFI_MISTAKE
PLACE(fi_info, fabric_attr, 112);
#else
PLACE(fi_info, fabric_attr, 104);
#endif

SAME(sizeof(struct fi_tx_attr), 80);
PLACE(fi_tx_attr, msg_order, 24);
PLACE(fi_tx_attr, inject_size, 40);
PLACE(fi_tx_attr, size, 48);
SAME(sizeof(struct fi_rx_attr), 64);
PLACE(fi_rx_attr, msg_order, 24);
PLACE(fi_rx_attr, size, 48);
PLACE(fi_ep_attr, type, 0);
PLACE(fi_ep_attr, protocol, 4);
PLACE(fi_ep_attr, protocol_version, 8);
PLACE(fi_ep_attr, max_msg_size, 16);
PLACE(fi_domain_attr, name, 8);
PLACE(fi_domain_attr, threading, 16);
PLACE(fi_domain_attr, data_progress, 24);
PLACE(fi_domain_attr, resource_mgmt, 28);
PLACE(fi_domain_attr, mr_mode, 36);
PLACE(fi_domain_attr, mr_key_size, 40);
PLACE(fi_fabric_attr, name, 8);
PLACE(fi_fabric_attr, prov_name, 16);

SAME(sizeof(struct fid), 24);
PLACE(fid, ops, 16);
PLACE(fid_fabric, ops, 24);
PLACE(fid_domain, ops, 24);
PLACE(fid_domain, mr, 32);
PLACE(fid_mr, mem_desc, 24);
PLACE(fid_mr, key, 32);
PLACE(fid_av, ops, 24);
PLACE(fid_cq, ops, 24);
PLACE(fid_ep, cm, 32);
PLACE(fid_ep, msg, 40);
PLACE(fid_ep, rma, 48);
PLACE(fid_ep, atomic, 64);

PLACE(fi_ops, close, 8);
PLACE(fi_ops, bind, 16);
PLACE(fi_ops, control, 24);
PLACE(fi_ops_fabric, domain, 8);
PLACE(fi_ops_fabric, trywait, 40);
PLACE(fi_ops_domain, av_open, 8);
PLACE(fi_ops_domain, cq_open, 16);
PLACE(fi_ops_domain, endpoint, 24);
PLACE(fi_ops_mr, reg, 8);
PLACE(fi_ops_av, insert, 8);
PLACE(fi_ops_av, straddr, 48);
PLACE(fi_ops_cq, read, 8);
PLACE(fi_ops_cq, readerr, 24);
PLACE(fi_ops_cq, strerror, 56);
PLACE(fi_ops_cm, getname, 16);
PLACE(fi_ops_msg, recv, 8);
PLACE(fi_ops_msg, send, 32);
PLACE(fi_ops_msg, sendmsg, 48);
PLACE(fi_ops_rma, read, 8);
PLACE(fi_ops_rma, writemsg, 48);
PLACE(fi_ops_atomic, readwrite, 40);
PLACE(fi_ops_atomic, compwrite, 64);
PLACE(fi_ops_atomic, readwritevalid, 96);
PLACE(fi_ops_atomic, compwritevalid, 104);

SAME(sizeof(struct fi_av_attr), 48);
PLACE(fi_av_attr, count, 8);
SAME(sizeof(struct fi_cq_attr), 40);
PLACE(fi_cq_attr, format, 16);
PLACE(fi_cq_attr, wait_obj, 20);
SAME(sizeof(struct fi_cq_msg_entry), 24);
PLACE(fi_cq_msg_entry, len, 16);
SAME(sizeof(struct fi_cq_err_entry), 80);
PLACE(fi_cq_err_entry, err, 56);
PLACE(fi_cq_err_entry, prov_errno, 60);
PLACE(fi_cq_err_entry, err_data, 64);
SAME(sizeof(struct fi_msg), 48);
PLACE(fi_msg, desc, 8);
PLACE(fi_msg, addr, 24);
PLACE(fi_msg, context, 32);
SAME(sizeof(struct fi_context2), 64);
SAME(sizeof(struct fi_msg_rma), 64);
PLACE(fi_msg_rma, addr, 24);
PLACE(fi_msg_rma, rma_iov, 32);
PLACE(fi_msg_rma, context, 48);
SAME(sizeof(struct fi_rma_iov), 24);
PLACE(fi_rma_iov, len, 8);
PLACE(fi_rma_iov, key, 16);

SAME(FI_MSG, 1ULL << 1);
SAME(FI_RMA, 1ULL << 2);
SAME(FI_ATOMIC, 1ULL << 4);
SAME(FI_RECV, 1ULL << 10);
SAME(FI_REMOTE_READ, 1ULL << 12);
SAME(FI_REMOTE_WRITE, 1ULL << 13);
SAME(FI_DELIVERY_COMPLETE, 1ULL << 28);
SAME(FI_SEND, 1ULL << 11);
SAME(FI_TRANSMIT, FI_SEND);
SAME(FI_COMPLETION, 1ULL << 24);
SAME(FI_INJECT, 1ULL << 25);
SAME(FI_ORDER_SAS, 1ULL << 8);
SAME(FI_CONTEXT, 1ULL << 59);
SAME(FI_CONTEXT2, 1ULL << 52);
SAME(FI_MR_LOCAL, 1 << 2);
SAME(FI_MR_VIRT_ADDR, 1 << 4);
SAME(FI_MR_ALLOCATED, 1 << 5);
SAME(FI_MR_PROV_KEY, 1 << 6);
SAME(FI_EP_RDM, 3);
SAME(FI_THREAD_DOMAIN, 3);
SAME(FI_PROGRESS_AUTO, 1);
SAME(FI_UINT32, 5);
SAME(FI_UINT64, 7);
SAME(FI_SUM, 2);
SAME(FI_BOR, 6);
SAME(FI_BAND, 7);
SAME(FI_BXOR, 9);
SAME(FI_ATOMIC_WRITE, 11);
SAME(FI_CSWAP, 12);
SAME(FI_RM_ENABLED, 2);
SAME(FI_CQ_FORMAT_MSG, 2);
SAME(FI_WAIT_NONE, 0);
SAME(FI_WAIT_FD, 3);
SAME(FI_GETWAIT, 5);
SAME(FI_ENABLE, 6);
SAME(FI_ADDR_UNSPEC, UINT64_MAX);
SAME(FI_SOCKADDR, 1);
SAME(FI_SOCKADDR_IN, 2);
SAME(FI_SOCKADDR_IN6, 3);
SAME(FI_ADDR_STR, 9);
SAME(FI_EAGAIN, 11);
SAME(FI_EAVAIL, 259);
SAME(FI_ENOKEY, 266);

int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **) = fi_getinfo;
void (*freeinfo)(struct fi_info *) = fi_freeinfo;
struct fi_info *(*dupinfo)(const struct fi_info *) = fi_dupinfo;
int (*open_fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *) = fi_fabric;
const char *(*words)(int) = fi_strerror;
uint32_t (*version)(void) = fi_version;

/* Each assignment is an error if the function in the table has other arguments. */
void functions(struct fid *object, struct fid_fabric *fabric, struct fid_domain *domain, struct fid_av *av, struct fid_cq *cq,
               struct fid_ep *ep)
{
    int (*bind)(struct fid *, struct fid *, uint64_t) = object->ops->bind;
    int (*control)(struct fid *, int, void *) = object->ops->control;
    int (*open_domain)(struct fid_fabric *, struct fi_info *, struct fid_domain **, void *) = fabric->ops->domain;
    int (*trywait)(struct fid_fabric *, struct fid **, int) = fabric->ops->trywait;
    int (*av_open)(struct fid_domain *, struct fi_av_attr *, struct fid_av **, void *) = domain->ops->av_open;
    int (*cq_open)(struct fid_domain *, struct fi_cq_attr *, struct fid_cq **, void *) = domain->ops->cq_open;
    int (*endpoint)(struct fid_domain *, struct fi_info *, struct fid_ep **, void *) = domain->ops->endpoint;
    int (*reg)(struct fid *, const void *, size_t, uint64_t, uint64_t, uint64_t, uint64_t, struct fid_mr **, void *) = domain->mr->reg;
    int (*insert)(struct fid_av *, const void *, size_t, fi_addr_t *, uint64_t, void *) = av->ops->insert;
    const char *(*straddr)(struct fid_av *, const void *, char *, size_t *) = av->ops->straddr;
    ssize_t (*read)(struct fid_cq *, void *, size_t) = cq->ops->read;
    ssize_t (*readerr)(struct fid_cq *, struct fi_cq_err_entry *, uint64_t) = cq->ops->readerr;
    const char *(*reason)(struct fid_cq *, int, const void *, char *, size_t) = cq->ops->strerror;
    int (*getname)(fid_t, void *, size_t *) = ep->cm->getname;
    ssize_t (*recv)(struct fid_ep *, void *, size_t, void *, fi_addr_t, void *) = ep->msg->recv;
    ssize_t (*send)(struct fid_ep *, const void *, size_t, void *, fi_addr_t, void *) = ep->msg->send;
    ssize_t (*sendmsg)(struct fid_ep *, const struct fi_msg *, uint64_t) = ep->msg->sendmsg;
    ssize_t (*read_memory)(struct fid_ep *, void *, size_t, void *, fi_addr_t, uint64_t, uint64_t, void *) = ep->rma->read;
    ssize_t (*write_memory)(struct fid_ep *, const struct fi_msg_rma *, uint64_t) = ep->rma->writemsg;
    ssize_t (*fetch)(struct fid_ep *, const void *, size_t, void *, void *, void *, fi_addr_t, uint64_t, uint64_t, enum fi_datatype,
                     enum fi_op, void *) = ep->atomic->readwrite;
    ssize_t (*compare)(struct fid_ep *, const void *, size_t, void *, const void *, void *, void *, void *, fi_addr_t, uint64_t,
                       uint64_t, enum fi_datatype, enum fi_op, void *) = ep->atomic->compwrite;
    int (*fetch_valid)(struct fid_ep *, enum fi_datatype, enum fi_op, size_t *) = ep->atomic->readwritevalid;
    int (*compare_valid)(struct fid_ep *, enum fi_datatype, enum fi_op, size_t *) = ep->atomic->compwritevalid;
    (void)read_memory, (void)write_memory, (void)fetch, (void)compare, (void)fetch_valid, (void)compare_valid;
    (void)bind, (void)control, (void)open_domain, (void)trywait, (void)av_open, (void)cq_open, (void)endpoint, (void)reg;
    (void)insert, (void)straddr, (void)read, (void)readerr, (void)reason, (void)getname, (void)recv, (void)send;
    (void)sendmsg;
}
