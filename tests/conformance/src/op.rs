//! The suite of framework op: every kernel that a component offers against another component's, bit for bit.

use ompi_core::framework::op::{Component, Kernel, Operation};
use opal_core::datatype::{Primitive, Scalar};

/// How many kernels were compared; what differs first is the error.
pub fn suite(component: &dyn Component, reference: &dyn Component) -> Result<usize, String> {
    let mut compared = 0;
    for operation in OPERATIONS {
        for scalar in SCALARS {
            for bytes in [1u8, 2, 4, 8, 16, 32] {
                let primitive = Primitive::new(scalar, bytes);
                let Some(kernel) = component.kernel(operation, primitive) else { continue };
                let name = format!("{operation:?} of {scalar:?} of {bytes} bytes");
                let wanted =
                    reference.kernel(operation, primitive).ok_or(format!("{name}: MPI allows no such thing"))?;
                for count in COUNTS {
                    for shift in [0, 1, 3] {
                        case(kernel, wanted, primitive, count, shift)
                            .map_err(|what| format!("{name}, {count} at {shift}: {what}"))?;
                    }
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}

fn case(kernel: Kernel, reference: Kernel, primitive: Primitive, count: usize, shift: usize) -> Result<(), String> {
    let bytes = count * usize::from(primitive.bytes);
    let mut dice = (count * 31 + shift * 7 + 1) as u64;
    let mut any =
        || -> Vec<u8> { (0..bytes + 64).map(|index| byte(&mut dice, primitive, index.wrapping_sub(shift))).collect() };
    let (input, before) = (any(), any());
    let mut results = [before.clone(), before.clone()];
    for (kernel, result) in [kernel, reference].into_iter().zip(&mut results) {
        let (from, to) = (input.as_ptr().wrapping_add(shift), result.as_mut_ptr().wrapping_add(shift));
        // SAFETY: both have `bytes` bytes from `shift` on; any bits are a value of these types.
        unsafe { kernel(from, to, to, count) };
    }
    let mut apart = vec![0x5a; before.len()];
    let (from, with, to) = (input.as_ptr(), before.as_ptr(), apart.as_mut_ptr());
    let [from, with] = [from, with].map(|at| at.wrapping_add(shift));
    // SAFETY: as above.
    unsafe { kernel(from, with, to.wrapping_add(shift), count) };
    if apart[..shift].iter().chain(&apart[shift + bytes..]).any(|byte| *byte != 0x5a) {
        return Err("it wrote outside when the result is apart".to_owned());
    }
    if apart[shift..shift + bytes] != results[0][shift..shift + bytes] {
        return Err("a result apart differs from one in place".to_owned());
    }
    let size = usize::from(primitive.bytes);
    let [got, wanted] = &results;
    if got[..shift] != before[..shift] || got[shift + bytes..] != before[shift + bytes..] {
        return Err("it wrote outside".to_owned());
    }
    let elements =
        |all: &[u8]| all[shift..shift + bytes].chunks(part(primitive)).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let differs = elements(got)
        .into_iter()
        .zip(elements(wanted))
        .position(|(got, wanted)| got != wanted && !both_nan(primitive, &got, &wanted));
    // The same memory on both sides is allowed.
    let mut twice = before;
    let at = twice.as_mut_ptr().wrapping_add(shift);
    // SAFETY: as above.
    unsafe { kernel(at, at, at, count) };
    match differs {
        None => Ok(()),
        Some(at) => Err(format!(
            "element {} differs: {:x?}, not {:x?}",
            at * part(primitive) / size,
            elements(got)[at],
            elements(wanted)[at]
        )),
    }
}

/// Bytes of a number: half of a complex one.
fn part(primitive: Primitive) -> usize {
    let bytes = usize::from(primitive.bytes);
    if primitive.scalar == Scalar::Complex { (bytes / 2).max(1) } else { bytes }
}

/// Any bits, but for numbers with a fraction mostly ordinary values: the exponent's upper bits are those around 1.
fn byte(dice: &mut u64, primitive: Primitive, index: usize) -> u8 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    let random = (*dice >> 32) as u8;
    let ordinary = matches!(primitive.scalar, Scalar::Float | Scalar::Complex) && !(*dice).is_multiple_of(17);
    let last = index % part(primitive) + 1 == part(primitive);
    if ordinary && last { random & 0x80 | 0x3f } else { random }
}

/// Which NaN a sum is depends on the order in which the instruction has its operands.
fn both_nan(primitive: Primitive, a: &[u8], b: &[u8]) -> bool {
    if !matches!(primitive.scalar, Scalar::Float | Scalar::Complex) {
        return false;
    }
    let nan = |bytes: &[u8]| match bytes.len() {
        4 => f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).is_nan(),
        8 => bytes.try_into().map(f64::from_ne_bytes).is_ok_and(f64::is_nan),
        _ => false,
    };
    nan(a) && nan(b)
}

const COUNTS: [usize; 9] = [0, 1, 3, 7, 16, 31, 64, 129, 1000];

/// Pairs with an index are op/scalar's alone, whose own tests compare them with formulas.
const SCALARS: [Scalar; 6] =
    [Scalar::Signed, Scalar::Unsigned, Scalar::Float, Scalar::Complex, Scalar::Logical, Scalar::Byte];

const OPERATIONS: [Operation; 14] = [
    Operation::Sum,
    Operation::Min,
    Operation::Max,
    Operation::Prod,
    Operation::Band,
    Operation::Bor,
    Operation::Bxor,
    Operation::Land,
    Operation::Lor,
    Operation::Lxor,
    Operation::Minloc,
    Operation::Maxloc,
    Operation::Replace,
    Operation::NoOp,
];
