//! Accesses: copies, and combinations under the target's accumulate lock.
#![allow(unsafe_code)]

use super::words::Words;
use crate::accumulate;
use crate::data::{self, Data, no_room};
use crate::datatype::{self, Datatype};
use crate::error::{Class, Fault, Result};
use crate::framework::op::Operation;
use crate::framework::osc::Access;
use crate::win::instruction::{self, Instruction};
use alloc::vec::Vec;

/// Data of a target, however this process reaches it.
pub trait TargetData {
    /// Its datatype.
    fn datatype(&self) -> &Datatype;

    /// Its bytes of data.
    fn bytes(&self) -> usize;

    /// Where its bytes are, if they are one run of memory that this process has mapped.
    fn mapped_run(&self) -> Option<*mut u8> {
        None
    }

    /// Overwrites it.
    ///
    /// # Safety
    /// `from` is readable, and as long.
    unsafe fn write(&self, from: &Data<'_>) -> Result<()>;

    /// Reads it.
    ///
    /// # Safety
    /// `to` is writable, and as long.
    unsafe fn read(&self, to: &Data<'_>) -> Result<()>;

    /// Combines it with other data, all of the type `basic`; `found` is what was just read of it, if it was. Nobody else combines
    /// meanwhile.
    ///
    /// # Safety
    /// `origin` and `found` are readable, and as long.
    unsafe fn combine(
        &self,
        origin: &Data<'_>,
        operation: Operation,
        basic: &Datatype,
        found: Option<&Data<'_>>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let input = unsafe { origin.packed()? };
        let mut old = match found {
            // SAFETY: as above.
            Some(found) => unsafe { found.packed()? },
            None => {
                let mut old = Vec::new();
                old.try_reserve_exact(self.bytes()).map_err(|_| no_room(self.bytes()))?;
                old.resize(self.bytes(), 0u8);
                let packed = Data { at: old.as_mut_ptr(), count: old.len(), datatype: datatype::byte() };
                // SAFETY: memory of the library's own, of the same length.
                unsafe { self.read(&packed)? };
                old
            }
        };
        accumulate::combine_packed(&mut old, operation, basic, &input)?;
        let packed = Data { at: old.as_mut_ptr(), count: old.len(), datatype: datatype::byte() };
        // SAFETY: as above.
        unsafe { self.write(&packed) }
    }
}

/// Data in memory that this process has mapped.
pub struct MappedData<'a>(Data<'a>);

impl<'a> MappedData<'a> {
    /// # Safety
    /// It lies in the memory of a window, which stays mapped as long as this lives; the program synchronises accesses to it.
    pub unsafe fn new(data: Data<'a>) -> MappedData<'a> {
        MappedData(data)
    }
}

impl TargetData for MappedData<'_> {
    fn datatype(&self) -> &Datatype {
        self.0.datatype
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    #[inline(always)]
    fn mapped_run(&self) -> Option<*mut u8> {
        self.0.contiguous()
    }

    #[inline(always)]
    unsafe fn write(&self, from: &Data<'_>) -> Result<()> {
        // SAFETY: by the contracts of this and of `new`; the program may not let them overlap (MPI 5.0 §12.3).
        unsafe { data::copy(from, &self.0) }
    }

    #[inline(always)]
    unsafe fn read(&self, to: &Data<'_>) -> Result<()> {
        // SAFETY: likewise.
        unsafe { data::copy(&self.0, to) }
    }

    unsafe fn combine(
        &self,
        origin: &Data<'_>,
        operation: Operation,
        basic: &Datatype,
        _found: Option<&Data<'_>>,
    ) -> Result<()> {
        let bytes = origin.bytes();
        if let Some(at) = origin.contiguous() {
            // SAFETY: as in `write`.
            return unsafe { accumulate::combine(&self.0, operation, basic, at, bytes) };
        }
        // SAFETY: readable by the caller's promise.
        let packed = unsafe { origin.packed()? };
        // SAFETY: as in `write`; the copy is memory of the library's own.
        unsafe { accumulate::combine(&self.0, operation, basic, packed.as_ptr(), bytes) }
    }
}

/// Does an access to data of a rank, at once.
///
/// # Safety
/// That of [`Module::access`](crate::framework::osc::Module::access).
#[inline(always)]
pub unsafe fn perform(words: &Words, rank: usize, access: &Access<'_>, target: &impl TargetData) -> Result<()> {
    // SAFETY: the caller's promise, here and below.
    if unsafe { is_done_by_instruction(words, target, access)? } {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { perform_under(|| words.combine_alone(rank), access, target) }
}

/// Does an access to data of a target; `alone` waits for the accumulate lock of the target, which its result holds.
///
/// # Safety
/// That of [`Module::access`](crate::framework::osc::Module::access).
#[inline(always)]
pub unsafe fn perform_under<Held>(
    alone: impl FnOnce() -> Result<Held>,
    access: &Access<'_>,
    target: &impl TargetData,
) -> Result<()> {
    match access {
        // SAFETY: the caller's promise, here and below.
        Access::Put(origin) => unsafe { target.write(origin) },
        // SAFETY: as above.
        Access::Get(result) => unsafe { target.read(result) },
        Access::Accumulate(origin, operation) => {
            let basic = basic(target.datatype())?;
            let _alone = alone()?;
            // SAFETY: as above.
            unsafe { change(target, origin, *operation, basic, None) }
        }
        Access::GetAccumulate(origin, result, operation) => {
            let basic = basic(target.datatype())?;
            let _alone = alone()?;
            // SAFETY: as above.
            unsafe { target.read(result)? };
            // SAFETY: as above.
            unsafe { change(target, origin, *operation, basic, Some(result)) }
        }
        Access::CompareAndSwap { origin, compare, result } => {
            let _alone = alone()?;
            // SAFETY: as above.
            unsafe { target.read(result)? };
            // SAFETY: as above.
            let expected = unsafe { compare.packed()? };
            // SAFETY: it was just written.
            let found = unsafe { result.packed()? };
            // SAFETY: as above.
            if expected == found { unsafe { target.write(origin) } } else { Ok(()) }
        }
    }
}

/// Does an access by instructions, if the gate is open and it is one for that; otherwise nothing is done.
///
/// # Safety
/// That of [`perform`].
#[inline(always)]
unsafe fn is_done_by_instruction(words: &Words, target: &impl TargetData, access: &Access<'_>) -> Result<bool> {
    let basic = || basic(target.datatype());
    Ok(match access {
        Access::Put(_) | Access::Get(_) => false,
        // SAFETY: the caller's promise, here and below.
        Access::Accumulate(origin, operation) => unsafe {
            by_instruction(words, target, origin, None, *operation, basic()?)
        },
        // SAFETY: as above.
        Access::GetAccumulate(origin, result, operation) => unsafe {
            by_instruction(words, target, origin, Some(result), *operation, basic()?)
        },
        // SAFETY: as above.
        Access::CompareAndSwap { origin, compare, result } => unsafe {
            swapped_by_instruction(words, target, [origin, compare, result])
        },
    })
}

/// Combines by an instruction for each element, if the gate is open and these are elements for that; otherwise nothing is done.
///
/// # Safety
/// That of [`perform`].
#[inline(always)]
unsafe fn by_instruction(
    words: &Words,
    target: &impl TargetData,
    origin: &Data<'_>,
    result: Option<&Data<'_>>,
    operation: Operation,
    basic: &Datatype,
) -> bool {
    let run = |data: &Data<'_>| data.contiguous();
    let wanted = || {
        let at = target.mapped_run()?;
        let instruction = Instruction::of(operation, basic, at)?;
        let count = target.bytes() / basic.layout.size();
        let is_quick = count <= words.by_instruction() || instruction.is_copy(result.is_some());
        let from = if operation == Operation::NoOp { core::ptr::null_mut() } else { run(origin)? };
        let to = result.map_or(Some(core::ptr::null_mut()), run)?;
        is_quick.then_some((at, instruction, count, from, to))
    };
    if !words.gate().is_open() {
        return false;
    }
    let Some((at, instruction, count, from, to)) = wanted() else { return false };
    let Some(_inside) = words.gate().enter() else { return false };
    match result {
        // SAFETY: the instruction is one for this address; inside of the gate everybody uses instructions; the rest is the caller's
        // promise, here and below.
        None => unsafe { instruction.apply(at, from, count) },
        // SAFETY: as above.
        Some(_) => unsafe { instruction.fetch(at, from, to, count) },
    }
    true
}

/// The same for MPI_Compare_and_swap of origin, compare and result.
///
/// # Safety
/// That of [`perform`].
unsafe fn swapped_by_instruction(words: &Words, target: &impl TargetData, local: [&Data<'_>; 3]) -> bool {
    let (Some(at), [Some(origin), Some(compare), Some(result)]) =
        (target.mapped_run(), local.map(|data| data.contiguous()))
    else {
        return false;
    };
    let Some(_inside) = words.gate().enter() else { return false };
    // SAFETY: inside of the gate everybody uses instructions; the rest is the caller's promise.
    unsafe { instruction::compare_and_swap(target.datatype(), at, origin, compare, result) }
}

/// # Safety
/// That of [`TargetData::combine`].
unsafe fn change(
    target: &impl TargetData,
    origin: &Data<'_>,
    operation: Operation,
    basic: &Datatype,
    found: Option<&Data<'_>>,
) -> Result<()> {
    match operation {
        Operation::NoOp => Ok(()),
        // SAFETY: the caller's promise.
        Operation::Replace => unsafe { target.write(origin) },
        // SAFETY: as above.
        _ => unsafe { target.combine(origin, operation, basic, found) },
    }
}

fn basic(datatype: &Datatype) -> Result<&'static Datatype> {
    let none = || Fault::new(Class::Type).argument("target_datatype").because("its data is not all of one basic type");
    accumulate::basic(datatype).ok_or_else(none)
}
