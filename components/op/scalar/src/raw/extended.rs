//! The x87 80-bit format: C's `long double` on x86-64, ten bytes in sixteen.

use core::arch::asm;
use core::cmp::Ordering;
use core::ops::{Add, Mul, Sub};

/// An 80-bit number in 16 bytes; the last six are padding and keep what the first operand had.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Extended(pub [u8; 16]);

macro_rules! arithmetic {
    ($($name:ident $method:ident $instruction:literal;)*) => {
        $(impl $name for Extended {
            type Output = Extended;
            #[inline]
            fn $method(mut self, other: Extended) -> Extended {
                // SAFETY: reads ten bytes of each and writes ten of `self`, which are both sixteen long; every register
                // of the stack is declared lost, and what is pushed is popped.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{a}]",
                        "fld tbyte ptr [{b}]",
                        $instruction,
                        "fstp tbyte ptr [{a}]",
                        a = in(reg) &mut self,
                        b = in(reg) &other,
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                        options(nostack)
                    );
                }
                self
            }
        })*
    };
}
// In Intel syntax `op st(1), st` then pop: st(1) is self, st(0) is other.
arithmetic! {
    Add add "faddp st(1), st";
    Sub sub "fsubp st(1), st";
    Mul mul "fmulp st(1), st";
}

impl PartialEq for Extended {
    fn eq(&self, other: &Extended) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Extended {
    fn partial_cmp(&self, other: &Extended) -> Option<Ordering> {
        let (above, below, unordered): (u8, u8, u8);
        // SAFETY: reads ten bytes of each, writes nothing; fucomip pops one value and the fstp the other.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fucomip st, st(1)",
                "setp {u}",
                "seta {g}",
                "setb {l}",
                "fstp st(0)",
                a = in(reg) self,
                b = in(reg) other,
                u = out(reg_byte) unordered,
                g = out(reg_byte) above,
                l = out(reg_byte) below,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly)
            );
        }
        match (unordered != 0, above != 0, below != 0) {
            (true, _, _) => None,
            (_, true, _) => Some(Ordering::Greater),
            (_, _, true) => Some(Ordering::Less),
            _ => Some(Ordering::Equal),
        }
    }
}

#[cfg(test)]
impl From<f64> for Extended {
    fn from(value: f64) -> Extended {
        let mut to = Extended([0; 16]);
        // SAFETY: reads eight bytes of `value`, writes ten of `to`.
        unsafe {
            asm!("fld qword ptr [{a}]", "fstp tbyte ptr [{b}]", a = in(reg) &value, b = in(reg) &mut to,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        to
    }
}

#[cfg(test)]
impl From<Extended> for f64 {
    fn from(value: Extended) -> f64 {
        let mut to = 0f64;
        // SAFETY: reads ten bytes of `value`, writes eight of `to`.
        unsafe {
            asm!("fld tbyte ptr [{a}]", "fstp qword ptr [{b}]", a = in(reg) &value, b = in(reg) &mut to,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _, options(nostack));
        }
        to
    }
}
