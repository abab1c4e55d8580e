/* A process that the system forbids to copy from or to others, by a seccomp filter. Define _GNU_SOURCE before. */
#ifndef REFUSE_H
#define REFUSE_H
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* process_vm_readv, process_vm_writev or both fail with EPERM from now on, as in many containers. */
static inline void refuse_copies(int reads, int writes)
{
    const unsigned none = 0xffffffff;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, reads ? SYS_process_vm_readv : none, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, writes ? SYS_process_vm_writev : none, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
        perror("the seccomp filter cannot be installed");
        exit(3);
    }
}
#endif
