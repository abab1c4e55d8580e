//! Registration, and opening files.

use crate::file::{Ompio, Parts};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{FileCall, Striping, agree_call, as_first, failure, same};
use ompi_core::framework::io::{self, FileArguments, Module};
use ompi_core::framework::{fbtl, fcoll, fs};
use opal_core::mca::{self, Declined};

/// The component.
pub struct OmpioComponent;

impl mca::Component for OmpioComponent {
    opal_core::component_info!();
}

impl io::Component for OmpioComponent {
    fn query(&self) -> Result<i32, Declined> {
        Ok(10)
    }

    fn open_file(&self, comm: Arc<Communicator>, arguments: Result<FileArguments<'_>>) -> Result<Box<dyn Module>> {
        let checked = arguments.and_then(|arguments| parts(&comm, arguments.path).map(|parts| (arguments, parts)));
        let words = |(arguments, _): &(FileArguments<'_>, Parts)| {
            [arguments.amode.bits() as u64, arguments.hints.fingerprint(), 0, 0]
        };
        let ((arguments, parts), all) = agree_call(&comm, FileCall::Open, checked, words)?;
        same(&comm, &all, "amode", 0)?;
        same(&comm, &all, "info", 1)?;
        // Only one of several processes can make a file that must not be there; the others open what it made.
        let opened = match arguments.amode.creates() && comm.size() > 1 {
            false => opened(parts.fs, &arguments, arguments.amode.creates()),
            true => {
                let mut made = None;
                as_first(&comm, || {
                    made = Some(opened(parts.fs, &arguments, true)?);
                    Ok(())
                })?;
                made.map_or_else(|| opened(parts.fs, &arguments, false), Ok)
            }
        };
        let (opened, all) = agree_call(&comm, FileCall::Open, opened, |opened| opened.striping.words())?;
        // Rank 0 knows what stripes it has made.
        let opened = fs::OpenedFile { striping: Striping::of_words(all[0]), ..opened };
        let module = Ompio::new(comm, opened, arguments, parts)?;
        Ok(Box::new(module))
    }

    fn delete_file(&self, path: &CStr) -> Result<()> {
        let fs = fs::selected(path)?.ok_or_else(|| missing("fs"))?;
        fs.delete(path).map_err(|errno| failure(errno, path, "cannot be deleted"))
    }
}

fn parts(comm: &Communicator, path: &CStr) -> Result<Parts> {
    let fs = fs::selected(path)?.ok_or_else(|| missing("fs"))?;
    let fbtl = fbtl::selected()?.ok_or_else(|| missing("fbtl"))?;
    let fcoll = fcoll::offers(comm.size())?;
    Ok(Parts { fs, fbtl, fcoll })
}

fn missing(framework: &str) -> Fault {
    let why = alloc::format!("no component of framework {framework} is in this library and wanted");
    Fault::new(Class::UnsupportedOperation).because(why)
}

fn opened(fs: &dyn fs::Module, arguments: &FileArguments<'_>, creates: bool) -> Result<fs::OpenedFile> {
    let amode = arguments.amode;
    let how = fs::Opening {
        reads: amode.reads(),
        writes: amode.writes(),
        creates,
        exclusive: amode.is_exclusive(),
        permissions: arguments.hints.permissions.unwrap_or(0o666),
        striping: arguments.hints.striping,
    };
    fs.open(arguments.path, &how).map_err(|errno| failure(errno, arguments.path, "cannot be opened"))
}

opal_core::component! {
    /// MPI-IO of this library: views, file pointers, collective access.
    pub static COMPONENT: OmpioComponent = OmpioComponent;
    in ompi_core::framework::io, name "ompio", params &[]
}
