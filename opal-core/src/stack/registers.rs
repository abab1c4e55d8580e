//! The registers of a stopped thread, as unwind tables number them.

/// The registers that are followed: by the numbers of the AMD64 ABI, rax to r15 and the instruction.
pub type Registers = [u64; 17];

/// The stack pointer among [`Registers`].
pub const SP: usize = 7;
/// The instruction among [`Registers`].
pub const PC: usize = 16;
