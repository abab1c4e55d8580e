//! Windows and access to them. MPI 5.0 §12.2 and §12.3.

use super::kinds::{
    Aint, Buffer, Comm, Committed, ConstBuffer, Count, CountPlace, Hints, NamedWin, Op, Out, OutCount, OutPtr,
    ParamKind, Rank, Raw, Signed, Text, Win, WinPlace, data, give_text,
};
use crate::comm::Communicator;
use crate::data::Data;
use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::op::Operation;
use crate::framework::osc::{Access, Flavor};
use crate::group;
use crate::info::Info;
use crate::op::Op as AnyOp;
use crate::request::Request;
use crate::win::{self, Window, Wish, direct};
use alloc::format;
use alloc::string::String;
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// A window over memory of the user's. MPI 5.0 §12.2.1.
    fn Win_create(
        base: Buffer, size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, win: Out<usize>,
    ) [large] => {
        let wish = wish(Flavor::Create, size, disp_unit, info.as_deref())?;
        data(base, wish.bytes, crate::datatype::byte(), "base")?;
        create(comm, &Wish { base, ..wish }, None, win)
    }

    /// A window with memory of its own. MPI 5.0 §12.2.2.
    fn Win_allocate(
        size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, baseptr: Raw<*mut c_void>, win: Out<usize>,
    ) [large] => {
        let wish = wish(Flavor::Allocate, size, disp_unit, info.as_deref())?;
        create(comm, &wish, Some(place_of(baseptr)?), win)
    }

    /// A window whose memory all processes can address. MPI 5.0 §12.2.3.
    fn Win_allocate_shared(
        size: Raw<Aint>, disp_unit: Signed, info: Hints, comm: Comm, baseptr: Raw<*mut c_void>, win: Out<usize>,
    ) [large] => {
        let wish = wish(Flavor::Shared, size, disp_unit, info.as_deref())?;
        create(comm, &wish, Some(place_of(baseptr)?), win)
    }

    /// Where another process's part of a shared window lies. MPI 5.0 §12.2.3.
    fn Win_shared_query(
        win: Win, rank: Rank, size: Out<Aint>, disp_unit: OutCount, baseptr: Raw<*mut c_void>,
    ) [large] => {
        shared_query(win, rank, size, disp_unit, place_of(baseptr)?)
    }

    /// A window to which memory is attached later. MPI 5.0 §12.2.4.
    fn Win_create_dynamic(info: Hints, comm: Comm, win: Out<usize>) [] => {
        create(comm, &wish(Flavor::Dynamic, 0, 1, info.as_deref())?, None, win)
    }

    /// Attaches memory to a dynamic window. MPI 5.0 §12.2.4.
    fn Win_attach(win: Win, base: Buffer, size: Raw<Aint>) [] => {
        let size = length(size)?;
        data(base, size, crate::datatype::byte(), "base")?;
        win.attach(base, size)
    }

    /// Detaches memory from a dynamic window. MPI 5.0 §12.2.4.
    fn Win_detach(win: Win, base: ConstBuffer) [] => {
        data(base, 1, crate::datatype::byte(), "base")?;
        win.detach(base)
    }

    /// Frees a window. MPI 5.0 §12.2.5.
    fn Win_free(win: WinPlace) [] => {
        win::free(win.get())?;
        win.set(win::NULL);
        Ok(())
    }

    /// The group of a window. MPI 5.0 §12.2.6.
    fn Win_get_group(win: Win, group: Out<usize>) [] => {
        group.set(group::insert(win.group.clone()).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Gives a window hints. MPI 5.0 §12.2.7.
    fn Win_set_info(win: Win, info: Hints) [] => {
        if let Some(info) = info {
            win.hints.update(&info);
        }
        Ok(())
    }

    /// The hints in use. MPI 5.0 §12.2.7.
    fn Win_get_info(win: Win, info_used: Out<usize>) [] => {
        info_used.set(win.hints.info().into_handle()?);
        Ok(())
    }

    /// Names a window. MPI 5.0 §7.8.
    fn Win_set_name(win: Win, win_name: Text) [] => {
        let mut name = win_name.to_string_lossy().into_owned();
        name.truncate(name.floor_char_boundary(MAX_OBJECT_NAME - 1));
        win.set_name(name);
        Ok(())
    }

    /// The name of a window. MPI 5.0 §7.8.
    fn Win_get_name(win: NamedWin, win_name: Out<c_char>, resultlen: Out<c_int>) [] => {
        let name = win.map_or_else(|| String::from("MPI_WIN_NULL"), Window::name);
        // SAFETY: the standard asks for room of MPI_MAX_OBJECT_NAME characters.
        unsafe { give_text(&name, win_name, MAX_OBJECT_NAME, Some(resultlen)) };
        Ok(())
    }

    /// Writes to a window. MPI 5.0 §12.3.1.
    fn Put(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win,
    ) [large, shortcut] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        // SAFETY: the caller keeps the standard's contract for the buffer until the operation is complete.
        unsafe { at.access(win, Access::Put(origin), false) }.map(drop)
    }

    /// Reads from a window. MPI 5.0 §12.3.2.
    fn Get(
        origin_addr: Buffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win,
    ) [large, shortcut] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        // SAFETY: the caller keeps the standard's contract for the buffer until the operation is complete.
        unsafe { at.access(win, Access::Get(origin), false) }.map(drop)
    }

    /// Combines data into a window. MPI 5.0 §12.3.4.
    fn Accumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, op: Op, win: Win,
    ) [large, shortcut] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        at.accumulate(win, origin, &op, false).map(drop)
    }

    /// Reads from a window and combines data into it. MPI 5.0 §12.3.4.
    fn Get_accumulate(
        origin_addr: ConstBuffer, origin_count: Signed, origin_datatype: Raw<usize>, result_addr: Buffer,
        result_count: Count, result_datatype: Committed, target_rank: Rank, target_disp: Raw<Aint>,
        target_count: Count, target_datatype: Committed, op: Op, win: Win,
    ) [large, shortcut] => {
        let result = data(result_addr, result_count, result_datatype, "result_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        let origin = Origin { at: origin_addr, count: origin_count, datatype: origin_datatype };
        at.get_accumulate(win, origin.data(&op)?, result, &op, false).map(drop)
    }

    /// Reads one element and combines one into it. MPI 5.0 §12.3.4.
    fn Fetch_and_op(
        origin_addr: ConstBuffer, result_addr: Buffer, datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, op: Op, win: Win,
    ) [shortcut] => {
        let result = data(result_addr, 1, datatype, "result_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: 1, datatype };
        if !datatype.is_predefined() {
            return Err(Fault::new(Class::Type).argument("datatype").because("it is no predefined datatype"));
        }
        let origin = match op {
            AnyOp::Predefined(Operation::NoOp) => None,
            _ => Some(data(origin_addr, 1, datatype, "origin_addr")?),
        };
        at.get_accumulate(win, origin, result, &op, false).map(drop)
    }

    /// Replaces one element if it has the expected value. MPI 5.0 §12.3.4.
    fn Compare_and_swap(
        origin_addr: ConstBuffer, compare_addr: ConstBuffer, result_addr: Buffer, datatype: Committed,
        target_rank: Rank, target_disp: Raw<Aint>, win: Win,
    ) [shortcut] => {
        let origin = data(origin_addr, 1, datatype, "origin_addr")?;
        let compare = data(compare_addr, 1, datatype, "compare_addr")?;
        let result = data(result_addr, 1, datatype, "result_addr")?;
        win::check_swapped(&origin)?;
        let at = Place { rank: target_rank, displacement: target_disp, count: 1, datatype };
        // SAFETY: the caller keeps the standard's contract for the buffers until the operation is complete.
        unsafe { at.access(win, Access::CompareAndSwap { origin, compare, result }, false) }.map(drop)
    }

    /// MPI_Put with a request. MPI 5.0 §12.3.5.
    fn Rput(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win, request: Out<usize>,
    ) [large] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        // SAFETY: the caller keeps the standard's contract for the buffer until the operation is complete.
        give(unsafe { at.access(win, Access::Put(origin), true) }?, request)
    }

    /// MPI_Get with a request. MPI 5.0 §12.3.5.
    fn Rget(
        origin_addr: Buffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, win: Win, request: Out<usize>,
    ) [large] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        // SAFETY: the caller keeps the standard's contract for the buffer until the operation is complete.
        give(unsafe { at.access(win, Access::Get(origin), true) }?, request)
    }

    /// MPI_Accumulate with a request. MPI 5.0 §12.3.5.
    fn Raccumulate(
        origin_addr: ConstBuffer, origin_count: Count, origin_datatype: Committed, target_rank: Rank,
        target_disp: Raw<Aint>, target_count: Count, target_datatype: Committed, op: Op, win: Win,
        request: Out<usize>,
    ) [large] => {
        let origin = data(origin_addr, origin_count, origin_datatype, "origin_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        give(at.accumulate(win, origin, &op, true)?, request)
    }

    /// MPI_Get_accumulate with a request. MPI 5.0 §12.3.5.
    fn Rget_accumulate(
        origin_addr: ConstBuffer, origin_count: Signed, origin_datatype: Raw<usize>, result_addr: Buffer,
        result_count: Count, result_datatype: Committed, target_rank: Rank, target_disp: Raw<Aint>,
        target_count: Count, target_datatype: Committed, op: Op, win: Win, request: Out<usize>,
    ) [large] => {
        let result = data(result_addr, result_count, result_datatype, "result_addr")?;
        let at = Place { rank: target_rank, displacement: target_disp, count: target_count, datatype: target_datatype };
        let origin = Origin { at: origin_addr, count: origin_count, datatype: origin_datatype };
        give(at.get_accumulate(win, origin.data(&op)?, result, &op, true)?, request)
    }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the C function")]
unsafe fn shortcut_put(
    origin_addr: *const c_void,
    origin_count: c_int,
    origin_datatype: usize,
    rank: c_int,
    displacement: Aint,
    target_count: c_int,
    target_datatype: usize,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    let bytes = run(origin_count, origin_datatype);
    let is_plain = bytes > 0 && bytes == run(target_count, target_datatype) && !origin_addr.is_null();
    // SAFETY: the caller keeps the standard's contract for the buffer.
    is_plain && unsafe { direct::put(origin_addr.cast(), bytes, place) }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the C function")]
unsafe fn shortcut_get(
    origin_addr: *mut c_void,
    origin_count: c_int,
    origin_datatype: usize,
    rank: c_int,
    displacement: Aint,
    target_count: c_int,
    target_datatype: usize,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    let bytes = run(origin_count, origin_datatype);
    let is_plain = bytes > 0 && bytes == run(target_count, target_datatype) && !origin_addr.is_null();
    // SAFETY: the caller keeps the standard's contract for the buffer.
    is_plain && unsafe { direct::get(origin_addr.cast(), bytes, place) }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the C function")]
unsafe fn shortcut_accumulate(
    origin_addr: *const c_void,
    origin_count: c_int,
    origin_datatype: usize,
    rank: c_int,
    displacement: Aint,
    target_count: c_int,
    target_datatype: usize,
    op: usize,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    let is_plain = origin_count > 0 && (origin_count, origin_datatype) == (target_count, target_datatype);
    let count = origin_count as usize;
    // SAFETY: the caller keeps the standard's contract for the buffer.
    is_plain && unsafe { direct::accumulate(origin_addr.cast(), count, origin_datatype, op, place) }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the C function")]
unsafe fn shortcut_get_accumulate(
    origin_addr: *const c_void,
    origin_count: c_int,
    origin_datatype: usize,
    result_addr: *mut c_void,
    result_count: c_int,
    result_datatype: usize,
    rank: c_int,
    displacement: Aint,
    target_count: c_int,
    target_datatype: usize,
    op: usize,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    let target = (target_count, target_datatype);
    let is_plain = target_count > 0
        && (result_count, result_datatype) == target
        && ((origin_count, origin_datatype) == target || direct::reads_no_origin(op));
    let (origin, result, count) = (origin_addr.cast(), result_addr.cast(), target_count as usize);
    // SAFETY: the caller keeps the standard's contract for the buffers.
    is_plain && unsafe { direct::get_accumulate(origin, result, count, target_datatype, op, place) }
}

#[inline(always)]
unsafe fn shortcut_fetch_and_op(
    origin_addr: *const c_void,
    result_addr: *mut c_void,
    datatype: usize,
    rank: c_int,
    displacement: Aint,
    op: usize,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    // SAFETY: the caller keeps the standard's contract for the buffers.
    unsafe { direct::fetch_and_op(origin_addr.cast(), result_addr.cast(), datatype, op, place) }
}

#[inline(always)]
unsafe fn shortcut_compare_and_swap(
    origin_addr: *const c_void,
    compare_addr: *const c_void,
    result_addr: *mut c_void,
    datatype: usize,
    rank: c_int,
    displacement: Aint,
    win: usize,
) -> bool {
    let Some(place) = direct::DirectPlace::of(win, rank, displacement) else { return false };
    // SAFETY: the caller keeps the standard's contract for the buffers.
    unsafe { direct::compare_and_swap(origin_addr.cast(), compare_addr.cast(), result_addr.cast(), datatype, place) }
}

/// Bytes of elements of a predefined datatype that are one run; 0 if they are not, or if there are none.
#[inline(always)]
fn run(count: c_int, datatype: usize) -> usize {
    if count > 0 { count as usize * crate::datatype::unit(datatype) } else { 0 }
}

/// MPI_MAX_OBJECT_NAME.
const MAX_OBJECT_NAME: usize = 128;

/// Checks what all constructors take.
fn wish(flavor: Flavor, size: i64, unit: i64, info: Option<&Info>) -> Result<Wish<'_>> {
    let bytes = length(size)?;
    if unit <= 0 {
        return Err(Fault::new(Class::Disp).argument("disp_unit").because(format!("{unit} is not positive")));
    }
    Ok(Wish { flavor, base: core::ptr::null_mut(), bytes, unit, info })
}

fn length(size: i64) -> Result<usize> {
    let negative = |_| Fault::new(Class::Size).argument("size").because(format!("{size} is negative"));
    usize::try_from(size).map_err(negative)
}

/// The place of an address, which C passes as void*.
fn place_of(baseptr: *mut c_void) -> Result<OutPtr<*mut u8>> {
    OutPtr::new(baseptr.cast::<*mut u8>()).map_err(|fault| fault.argument("baseptr"))
}

/// Makes a window, and says where its memory is if that was made, too.
fn create(comm: &Communicator, wish: &Wish<'_>, place: Option<OutPtr<*mut u8>>, win: OutPtr<usize>) -> Result<()> {
    win.set(win::NULL);
    let handle = win::create(comm, wish)?;
    if let (Some(place), Some(made)) = (place, win::borrow(handle)) {
        place.set(made.base());
    }
    win.set(handle);
    Ok(())
}

fn shared_query(
    win: &Window,
    rank: i32,
    size: OutPtr<Aint>,
    disp_unit: CountPlace,
    baseptr: OutPtr<*mut u8>,
) -> Result<()> {
    let (at, part) = win.shared_query(win.rank(rank, "rank")?)?;
    size.set(part.bytes as Aint);
    disp_unit.set(part.unit);
    baseptr.set(at);
    Ok(())
}

/// Memory of a target as the arguments name it.
struct Place<'a> {
    rank: i32,
    displacement: Aint,
    count: usize,
    datatype: &'a Datatype,
}

impl Place<'_> {
    fn data(&self) -> Data<'_> {
        Data { at: core::ptr::null_mut(), count: self.count, datatype: self.datatype }
    }

    /// # Safety
    /// That of [`Window::access`].
    unsafe fn access(&self, win: &Window, access: Access<'_>, wanted: bool) -> Result<Option<Request>> {
        // SAFETY: the caller's promise.
        unsafe { win.access(access, self.rank, self.displacement, self.data(), wanted) }
    }

    fn accumulate(&self, win: &Window, origin: Data<'_>, op: &AnyOp, wanted: bool) -> Result<Option<Request>> {
        let operation = win::accumulated(op, &[&origin], &self.data())?;
        if operation == Operation::NoOp {
            let why = "MPI_NO_OP is for MPI_Get_accumulate and its relatives only";
            return Err(Fault::new(Class::Op).argument("op").because(why));
        }
        // SAFETY: the caller keeps the standard's contract for the buffer until the operation is complete.
        unsafe { self.access(win, Access::Accumulate(origin, operation), wanted) }
    }

    fn get_accumulate(
        &self,
        win: &Window,
        origin: Option<Data<'_>>,
        result: Data<'_>,
        op: &AnyOp,
        wanted: bool,
    ) -> Result<Option<Request>> {
        let nothing = Data { at: core::ptr::null_mut(), count: 0, ..result };
        let operation = match &origin {
            None => win::accumulated(op, &[&result], &self.data())?,
            Some(origin) => win::accumulated(op, &[origin, &result], &self.data())?,
        };
        let access = Access::GetAccumulate(origin.unwrap_or(nothing), result, operation);
        // SAFETY: the caller keeps the standard's contract for the buffers until the operation is complete.
        unsafe { self.access(win, access, wanted) }
    }
}

/// The origin's data as the arguments name it.
struct Origin {
    at: *mut u8,
    count: i64,
    datatype: usize,
}

impl Origin {
    /// The data; `None` with MPI_NO_OP, where all three arguments say nothing, whatever they are (MPI 5.0 §12.3.4).
    fn data(&self, op: &AnyOp) -> Result<Option<Data<'static>>> {
        if let AnyOp::Predefined(Operation::NoOp) = op {
            return Ok(None);
        }
        // SAFETY: a number.
        let count = unsafe { Count::check_large(self.count) }.map_err(|fault| fault.argument("origin_count"))?;
        // SAFETY: a handle, which may be any number.
        let datatype = unsafe { Committed::check(self.datatype) }.map_err(|fault| fault.argument("origin_datatype"))?;
        data(self.at, count, datatype, "origin_addr").map(Some)
    }
}

/// Gives the request of an operation that was asked for with one.
fn give(request: Option<Request>, place: OutPtr<usize>) -> Result<()> {
    place.set(request.ok_or(Class::Intern)?.into_handle());
    Ok(())
}
