/* A process to which the system refuses calls, by a seccomp filter. Define _GNU_SOURCE before. */
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

static inline void install_filter(struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
        perror("the seccomp filter cannot be installed");
        exit(3);
    }
}

/* Calls with one of two numbers fail with this error from now on; of several filters the last one tells it. */
static inline void refuse_calls(unsigned first, unsigned second, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    install_filter(filter, sizeof filter / sizeof filter[0]);
}

/* Likewise calls with this number and this second argument, as fcntl(2) has commands. */
static inline void refuse_command(unsigned number, unsigned command, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    install_filter(filter, sizeof filter / sizeof filter[0]);
}

/* process_vm_readv, process_vm_writev or both fail with EPERM from now on, as in many containers. */
static inline void refuse_copies(int reads, int writes)
{
    const unsigned none = 0xffffffff;
    refuse_calls(reads ? SYS_process_vm_readv : none, writes ? SYS_process_vm_writev : none, EPERM);
}
#endif
