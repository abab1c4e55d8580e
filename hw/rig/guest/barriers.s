# A guest that does nothing but barriers: a boot sector, in real mode, by the port instructions of the processor. It says
# how it ended through QEMU's isa-debug-exit: 16 (QEMU ends with 33) when all its barriers are over.
.code16
.globl _start
_start:
    cli
    xor %ax, %ax
    mov %ax, %ds
    mov $BARRIERS, %cx
    # The latch may say anything: low, until a machine is there and its level is low.
    mov $0x378, %dx
    out %al, %dx
present:
    mov $0x379, %dx
    in %dx, %al
    and $0xc0, %al
    cmp $0x80, %al
    jne present
barrier:
    # Read the level, toggle, write, wait until the level toggles.
    in %dx, %al
    and $0x40, %al
    mov %al, %bl
    xor $0x40, %al
    shr $6, %al
    mov $0x378, %dx
    out %al, %dx
    mov $0x379, %dx
waits:
    in %dx, %al
    test $0x80, %al
    jz waits
    and $0x40, %al
    cmp %bl, %al
    je waits
    loop barrier
    mov $0x10, %al
    mov $0xf4, %dx
    out %al, %dx
halt:
    hlt
    jmp halt
    .org 510
    .word 0xaa55
