//! Opening files, their properties and views. MPI 5.0 §14.2, §14.3, §14.5 and §14.6.

use super::kinds::{
    Agreed, Aint, Callback, Comm, Datatype, File, FilePlace, Hints, Info, Offset, OldType, Out, Raw, Text, give_text,
    intra,
};
use crate::datatype::{self, Datatype as Type};
use crate::error::{Class, Fault, Result};
use crate::file::{
    self, Amode, Conversion, ConversionFunction, DatarepFunctions, ExtentFunction, FileHints, LargeConversionFunction,
    Representation, View,
};
use crate::framework::fs;
use crate::framework::io::{FileArguments, NewView};
use crate::group;
use crate::info::Info as Hinted;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::ffi::{CStr, c_char, c_int, c_void};

rows! {
    /// Opens a file. MPI 5.0 §14.2.1.
    fn File_open(
        comm: Comm, filename: Agreed<Text>, amode: Raw<c_int>, info: Agreed<Hints>, fh: Agreed<Out<usize>>,
    ) [] => {
        if let Ok(fh) = fh {
            fh.set(file::NULL);
        }
        intra(comm)?;
        let place = fh.map_err(|fault| fault.argument("fh"));
        let arguments = place.clone().and_then(|_| arguments(filename, amode, info));
        let opened = file::open(comm, arguments)?;
        place?.set(opened);
        Ok(())
    }

    /// Closes a file. MPI 5.0 §14.2.2.
    fn File_close(fh: FilePlace) [] => {
        let handle = fh.get();
        if file::borrow(handle).is_none() {
            let why = match handle {
                file::NULL => "it is the null file".into(),
                _ => format!("{handle:#x} is no file in force; was it closed, or never opened?"),
            };
            return Err(Fault::new(Class::File).argument("fh").because(why));
        }
        let closed = file::close(handle);
        if file::borrow(handle).is_none() {
            fh.set(file::NULL);
        }
        closed
    }

    /// Deletes a file. MPI 5.0 §14.2.3.
    fn File_delete(filename: Text, info: Hints) [] => {
        let _no_hint_matters_here = info;
        file::delete(fs::path_of(filename))
    }

    /// Cuts or extends a file. MPI 5.0 §14.2.4.
    fn File_set_size(fh: File, size: Raw<Offset>) [] => {
        fh.module.resize(fh.split.none_pending().and_then(|()| length(size)))
    }

    /// Reserves space for a file. MPI 5.0 §14.2.5.
    fn File_preallocate(fh: File, size: Raw<Offset>) [] => {
        fh.module.reserve(fh.split.none_pending().and_then(|()| length(size)))
    }

    /// The size of a file. MPI 5.0 §14.2.6.
    fn File_get_size(fh: File, size: Out<Offset>) [] => {
        size.set(fh.module.size()? as Offset);
        Ok(())
    }

    /// The group that opened a file. MPI 5.0 §14.2.7.
    fn File_get_group(fh: File, group: Out<usize>) [] => {
        group.set(group::insert(fh.group.clone()).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// The access mode of a file. MPI 5.0 §14.2.7.
    fn File_get_amode(fh: File, amode: Out<c_int>) [] => {
        amode.set(fh.amode.bits());
        Ok(())
    }

    /// Gives a file hints. MPI 5.0 §14.2.8.
    fn File_set_info(fh: File, info: Agreed<Info>) [] => {
        fh.module.set_hints(info.map_err(|fault| fault.argument("info")))
    }

    /// The hints in use. MPI 5.0 §14.2.8.
    fn File_get_info(fh: File, info_used: Out<usize>) [] => {
        info_used.set(fh.module.hints().info().into_handle()?);
        Ok(())
    }

    /// Sets what this process sees of a file. MPI 5.0 §14.3.
    fn File_set_view(
        fh: File, disp: Raw<Offset>, etype: Agreed<OldType>, filetype: Agreed<OldType>, datarep: Agreed<Text>,
        info: Agreed<Hints>,
    ) [] => {
        let info = fh.split.none_pending().and(info.map_err(|fault| fault.argument("info")));
        let at_shared = disp == DISPLACEMENT_CURRENT && fh.amode.is_sequential();
        let disp = if at_shared { 0 } else { disp };
        let view = |info| Ok(NewView { view: view(disp, etype, filetype, datarep)?, at_shared, info });
        fh.module.set_view(info.and_then(view))
    }

    /// What this process sees of a file. MPI 5.0 §14.3.
    fn File_get_view(
        fh: File, disp: Out<Offset>, etype: Out<usize>, filetype: Out<usize>, datarep: Out<c_char>,
    ) [] => {
        let view = fh.module.view();
        disp.set(view.displacement as Offset);
        etype.set(datatype::register(view.etype.clone())?);
        filetype.set(datatype::register(view.filetype.clone())?);
        // SAFETY: the standard asks for room of MPI_MAX_DATAREP_STRING characters.
        unsafe { give_text(view.representation.name(), datarep, MAX_DATAREP, None) };
        Ok(())
    }

    /// The extent of a datatype in a file. MPI 5.0 §14.5.1.
    fn File_get_type_extent(fh: File, datatype: Datatype, extent: Out<Aint>) [large] => {
        extent.set(fh.module.view().representation.layout(datatype)?.extent() as Aint);
        Ok(())
    }

    /// Adds a data representation. MPI 5.0 §14.5.3.
    fn Register_datarep(
        datarep: Text, read_conversion_fn: Callback, write_conversion_fn: Callback, dtype_file_extent_fn: Callback,
        extra_state: Raw<*mut c_void>,
    ) [] => {
        let conversion = |at: *const c_void| match at.is_null() {
            true => Conversion::Null,
            // SAFETY: a function of this type by the standard.
            false => Conversion::Int(unsafe { core::mem::transmute::<*const c_void, ConversionFunction>(at) }),
        };
        let (read, write) = (conversion(read_conversion_fn), conversion(write_conversion_fn));
        // SAFETY: functions that may be called with this state whenever MPI wants, by the standard.
        unsafe { register(datarep, read, write, dtype_file_extent_fn, extra_state) }
    }

    /// As MPI_Register_datarep for functions that take large counts. MPI 5.0 §14.5.3.
    fn Register_datarep_c(
        datarep: Text, read_conversion_fn: Callback, write_conversion_fn: Callback, dtype_file_extent_fn: Callback,
        extra_state: Raw<*mut c_void>,
    ) [] => {
        let conversion = |at: *const c_void| match at.is_null() {
            true => Conversion::Null,
            // SAFETY: a function of this type by the standard.
            false => Conversion::Large(unsafe { core::mem::transmute::<*const c_void, LargeConversionFunction>(at) }),
        };
        let (read, write) = (conversion(read_conversion_fn), conversion(write_conversion_fn));
        // SAFETY: functions that may be called with this state whenever MPI wants, by the standard.
        unsafe { register(datarep, read, write, dtype_file_extent_fn, extra_state) }
    }

    /// Sets whether accesses are atomic. MPI 5.0 §14.6.1.
    fn File_set_atomicity(fh: File, flag: Raw<c_int>) [] => {
        fh.module.set_atomic(fh.split.none_pending().map(|()| flag != 0))
    }

    /// Whether accesses are atomic. MPI 5.0 §14.6.1.
    fn File_get_atomicity(fh: File, flag: Out<c_int>) [] => {
        flag.set(c_int::from(fh.module.is_atomic()));
        Ok(())
    }

    /// Writes data through to the storage. MPI 5.0 §14.6.1.
    fn File_sync(fh: File) [] => {
        fh.module.sync(fh.split.none_pending())
    }
}

/// MPI_DISPLACEMENT_CURRENT.
const DISPLACEMENT_CURRENT: Offset = -1;
/// MPI_MAX_DATAREP_STRING.
const MAX_DATAREP: usize = 128;

/// What MPI_File_open is to open.
fn arguments<'a>(
    filename: Result<&'a CStr>,
    amode: c_int,
    info: Result<Option<Arc<Hinted>>>,
) -> Result<FileArguments<'a>> {
    let path = fs::path_of(filename.map_err(|fault| fault.argument("filename"))?);
    let info = info.map_err(|fault| fault.argument("info"))?;
    let hints = info.map_or_else(FileHints::default, |info| FileHints::default().updated(&info));
    Ok(FileArguments { path, amode: Amode::new(amode)?, hints })
}

/// A size of a file.
fn length(size: Offset) -> Result<u64> {
    u64::try_from(size).map_err(|_| {
        Fault::new(Class::Arg).argument("size").because(format!("{size} is negative; a file has 0 bytes or more"))
    })
}

/// A view of these arguments. That they are right for a file its module checks.
fn view(disp: Offset, etype: Result<Arc<Type>>, filetype: Result<Arc<Type>>, datarep: Result<&CStr>) -> Result<View> {
    let etype = etype.map_err(|fault| fault.argument("etype"))?;
    let filetype = filetype.map_err(|fault| fault.argument("filetype"))?;
    let datarep = datarep.map_err(|fault| fault.argument("datarep"))?;
    let displacement = u64::try_from(disp).map_err(|_| {
        let why = match disp {
            DISPLACEMENT_CURRENT => "MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL".into(),
            _ => format!("{disp} is negative; a view begins at byte 0 or later"),
        };
        Fault::new(Class::Arg).argument("disp").because(why)
    })?;
    for (datatype, argument) in [(&etype, "etype"), (&filetype, "filetype")] {
        if !datatype.is_committed() {
            let why = "the datatype is not committed; call MPI_Type_commit first";
            return Err(Fault::new(Class::Type).argument(argument).because(why));
        }
    }
    let representation = Representation::named(&datarep.to_string_lossy())?;
    Ok(View::new(displacement, etype, filetype, representation))
}

/// Registers a representation under a name that is free.
///
/// # Safety
/// The functions are of the types that the standard gives them, and may be called with `extra`.
unsafe fn register(
    datarep: &CStr,
    read: Conversion,
    write: Conversion,
    extent: *const c_void,
    extra: *mut c_void,
) -> Result<()> {
    let wrong = |argument, why: String| Err(Fault::new(Class::Arg).argument(argument).because(why));
    let Ok(name) = datarep.to_str() else { return wrong("datarep", "a name is a text in UTF-8".into()) };
    if name.is_empty() || name.len() >= MAX_DATAREP {
        let why =
            format!("a name has 1 to {} characters (MPI_MAX_DATAREP_STRING), not {}", MAX_DATAREP - 1, name.len());
        return wrong("datarep", why);
    }
    if extent.is_null() {
        return wrong("dtype_file_extent_fn", "a null pointer is not a function".into());
    }
    // SAFETY: a function of this type by the caller's promise.
    let extent = unsafe { core::mem::transmute::<*const c_void, ExtentFunction>(extent) };
    // SAFETY: the caller's promise.
    unsafe { file::register_datarep(name, DatarepFunctions { read, write, extent, extra }) }
}
