//! Accesses to targets: what of them can be checked here is, then the module does them. MPI 5.0 §12.3.
#![allow(unsafe_code)]

use super::Window;
use crate::data::Data;
use crate::datatype::{self, COMBINER_CONTIGUOUS, Datatype};
use crate::error::{Class, Fault, Result};
use crate::framework::op::Operation;
use crate::framework::osc::{Access, Flavor, Part, Target};
use crate::op::Op;
use crate::request::{self, Request};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::datatype::{Layout, Run, Scalar};
use opal_core::wait;

impl Window {
    /// Begins an access to a rank or MPI_PROC_NULL; with `wanted` under a request.
    ///
    /// # Safety
    /// That of [`Module::access`](crate::framework::osc::Module::access).
    pub unsafe fn access(
        &self,
        access: Access<'_>,
        rank: i32,
        displacement: i64,
        data: Data<'_>,
        wanted: bool,
    ) -> Result<Option<Request>> {
        let rank = self.rank(rank, "target_rank")?;
        if displacement < 0 && self.flavor != Flavor::Dynamic {
            let why = format!("{displacement} is negative");
            return Err(Fault::new(Class::Disp).argument("target_disp").because(why));
        }
        let Some(rank) = rank else {
            return Ok(wanted.then(request::done));
        };
        let (fit, beginning);
        let (access, data) = match is_as_long(&access, data.bytes()) {
            true => (&access, data),
            false => {
                beginning = cut_within_element(&access, &data)?;
                fit = fitted(access, data, beginning.as_ref());
                same_bytes(&fit.0, &fit.1)?;
                (&fit.0, fit.1)
            }
        };
        let target = Target { rank, displacement, data };
        self.check_place(&target)?;
        self.epoch.lock().check_access(rank, wanted)?;
        if data.bytes() == 0 {
            return Ok(wanted.then(request::done));
        }
        self.unfenced.note_store();
        let looks = !matches!(access, Access::Put(_) | Access::Accumulate(..));
        // SAFETY: the caller's promise.
        let request = unsafe { self.module.access(access, &target, wanted) }?;
        if looks {
            wait::polled_memory();
        }
        Ok(request)
    }

    /// Refuses a displacement outside the target's memory, whose size is known unless the window is dynamic.
    #[inline(always)]
    fn check_place(&self, target: &Target<'_>) -> Result<()> {
        if self.flavor == Flavor::Dynamic || is_run_within(target, self.parts[target.rank]) {
            return Ok(());
        }
        self.check_span(target)
    }

    #[inline(never)]
    fn check_span(&self, target: &Target<'_>) -> Result<()> {
        let part = self.parts[target.rank];
        let place =
            span(&target.data).map(|(low, high)| (low, high, i128::from(target.displacement) * i128::from(part.unit)));
        match place {
            Some((low, high, at)) if at + low < 0 || at + high > part.bytes as i128 => {
                let why = format!(
                    "bytes {} to {} are not all in the {} bytes of rank {}",
                    at + low,
                    at + high,
                    part.bytes,
                    target.rank
                );
                Err(Fault::new(Class::RmaRange).argument("target_disp").because(why))
            }
            _ => Ok(()),
        }
    }
}

/// Whether data without gaps lies in a part: what nearly every access finds, in a few instructions.
#[inline(always)]
fn is_run_within(target: &Target<'_>, part: Part) -> bool {
    let layout = &target.data.datatype.layout;
    // A negative displacement is a number that no part is as long as.
    let at = (target.displacement as u64).checked_mul(part.unit as u64);
    let left = at.and_then(|at| (part.bytes as u64).checked_sub(at));
    let bytes = (target.data.count as u64).checked_mul(layout.size() as u64);
    layout.is_contiguous() && matches!((left, bytes), (Some(left), Some(bytes)) if bytes <= left)
}

/// From the first to behind the last byte of data, from the address of the first element; `None` without data.
pub fn span(data: &Data<'_>) -> Option<(i128, i128)> {
    let layout = &data.datatype.layout;
    if data.count == 0 || layout.size() == 0 {
        return None;
    }
    let last = (data.count - 1) as i128 * layout.extent() as i128;
    let low = layout.true_lb() as i128;
    Some((low + last.min(0), low + last.max(0) + layout.true_extent() as i128))
}

/// Whether origin and result have so many bytes of data, as they nearly always have.
#[inline(always)]
fn is_as_long(access: &Access<'_>, bytes: usize) -> bool {
    match access {
        Access::Put(data) | Access::Get(data) | Access::Accumulate(data, _) => data.bytes() == bytes,
        Access::GetAccumulate(_, result, Operation::NoOp) => result.bytes() == bytes,
        Access::GetAccumulate(origin, result, _) => origin.bytes() == bytes && result.bytes() == bytes,
        Access::CompareAndSwap { .. } => true,
    }
}

/// Makes the longer side of a put or get as long as the other: what is sent need not fill what receives it (MPI 5.0 §12.3.1).
/// `beginning` is the longer side's if it ends within an element.
fn fitted<'a>(access: Access<'a>, target: Data<'a>, beginning: Option<&'a Datatype>) -> (Access<'a>, Data<'a>) {
    let shorter = |data: Data<'a>, bytes: usize| match (beginning, data.datatype.layout.size()) {
        (Some(datatype), _) if bytes < data.bytes() => Data { at: data.at, count: 1, datatype },
        (None, size) if size > 0 && bytes < data.bytes() => Data { count: bytes / size, ..data },
        _ => data,
    };
    match access {
        Access::Put(origin) => (Access::Put(origin), shorter(target, origin.bytes())),
        Access::Get(result) => (Access::Get(shorter(result, target.bytes())), target),
        other => (other, target),
    }
}

/// One element that is as much of the longer side of a put or get as the other one has, where that ends within an element.
fn cut_within_element(access: &Access<'_>, target: &Data<'_>) -> Result<Option<Datatype>> {
    let (longer, bytes) = match access {
        Access::Put(origin) => (target, origin.bytes()),
        Access::Get(result) => (result, target.bytes()),
        _ => return Ok(None),
    };
    let layout = &longer.datatype.layout;
    if bytes >= longer.bytes() || bytes.is_multiple_of(layout.size()) {
        return Ok(None);
    }
    let (whole, mut missing) = (bytes / layout.size(), bytes % layout.size());
    let mut runs = Vec::new();
    layout.each_run(&mut |Run { offset, bytes }| {
        runs.push((offset, bytes.min(missing)));
        missing -= bytes.min(missing);
    });
    let part = Arc::new(Layout::blocks(&runs, &datatype::byte().layout)?);
    let begin = (layout.extent()).checked_mul(whole as isize).ok_or(Class::Count)?;
    let cut = Layout::structure(&[(0, whole, layout), (begin, 1, &part)])?;
    Ok(Some(Datatype::derived(cut, COMBINER_CONTIGUOUS)))
}

/// Refuses data of other lengths than the target's, where it has any.
fn same_bytes(access: &Access<'_>, target: &Data<'_>) -> Result<()> {
    let (origin, result) = match access {
        Access::Put(origin) | Access::Accumulate(origin, _) => (Some(origin), None),
        Access::Get(result) | Access::GetAccumulate(_, result, Operation::NoOp) => (None, Some(result)),
        Access::GetAccumulate(origin, result, _) => (Some(origin), Some(result)),
        Access::CompareAndSwap { .. } => (None, None),
    };
    for (data, which) in [(origin, "origin"), (result, "origin or result")] {
        if let Some(data) = data.filter(|data| data.bytes() != target.bytes()) {
            let why = format!("the {which} has {} bytes of data, the target {}", data.bytes(), target.bytes());
            let is_long = (data.bytes() > target.bytes()) != matches!(access, Access::Get(_));
            let class = if is_long { Class::Truncate } else { Class::Count };
            return Err(Fault::new(class).argument("target_count").because(why));
        }
    }
    Ok(())
}

/// The operation of an accumulate, if it is one of the standard's and allowed for the data: all of one basic type, the same at
/// origin, result and target (MPI 5.0 §12.3.4).
pub fn accumulated(op: &Op, data: &[&Data<'_>], target: &Data<'_>) -> Result<Operation> {
    let Op::Predefined(operation) = op else {
        let why = "operations of MPI_Op_create cannot be used in accumulates";
        return Err(Fault::new(Class::Op).argument("op").because(why));
    };
    let primitive = target.datatype.layout.primitive();
    let mixed = || Fault::new(Class::Type).argument("target_datatype").because("its data is not all of one basic type");
    // Of what there is none of, the type says nothing.
    let empty = |data: &Data<'_>| data.bytes() == 0;
    if primitive.is_none() && !empty(target) {
        return Err(mixed());
    }
    if data.iter().any(|data| !empty(data) && data.datatype.layout.primitive() != primitive) {
        let why = "the origin's data is of another basic type than the target's";
        return Err(Fault::new(Class::Type).argument("origin_datatype").because(why));
    }
    if !matches!(operation, Operation::Replace | Operation::NoOp) && !empty(target) {
        op.kernel(target.datatype)?;
    }
    Ok(*operation)
}

/// Refuses types that MPI_Compare_and_swap does not know.
pub fn check_swapped(data: &Data<'_>) -> Result<()> {
    match can_be_swapped(data.datatype) {
        true => Ok(()),
        false => {
            let why = "only integers, logicals and MPI_BYTE can be compared and swapped";
            Err(Fault::new(Class::Type).argument("datatype").because(why))
        }
    }
}

/// Whether MPI_Compare_and_swap knows a type: integers, logicals and bytes (MPI 5.0 §12.3.4).
#[inline]
pub fn can_be_swapped(datatype: &Datatype) -> bool {
    let allowed = |scalar| {
        matches!(scalar, Scalar::Signed | Scalar::Unsigned | Scalar::Logical | Scalar::Byte | Scalar::Character)
    };
    datatype.is_predefined() && datatype.layout.primitive().is_some_and(|primitive| allowed(primitive.scalar))
}
