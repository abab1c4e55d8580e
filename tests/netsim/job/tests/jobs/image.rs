//! The library of a rank, and what its statics hold for each of them.
#![allow(unsafe_code)] // loads a library, and reads and writes its statics

use crate::calls::{RANK, Rank};
use std::ffi::{CStr, CString, c_int, c_void};
use std::path::PathBuf;

/// The loaded library.
pub struct Library {
    /// Begins a rank.
    pub begin: Rank,
    // Addresses.
    pages: Vec<usize>,
    // What they hold before a rank begins.
    fresh: Vec<Page>,
}

/// What the statics of a rank hold: the pages that are not as they were when it began.
#[derive(Default)]
pub struct Statics(Vec<(usize, Box<Page>)>);

type Page = [u8; PAGE];

impl Library {
    /// Loads it from beside this program, where cargo builds it.
    pub fn load() -> Library {
        let program = std::env::current_exe().expect("the system knows this program");
        let folder = program.parent().expect("it lies in a folder");
        let file = folder.join(NAME);
        let path = CString::new(file.to_str().expect("a path in UTF-8")).expect("without zeros");
        // SAFETY: a library of this tree, whose constructors need nothing.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "cannot load {}", file.display());
        let name = CString::new(RANK).expect("without zeros");
        // SAFETY: a handle, and a name.
        let begin = unsafe { libc::dlsym(handle, name.as_ptr()) };
        assert!(!begin.is_null(), "{} has no {RANK}", file.display());
        // SAFETY: the function has this type in the library, which is built of the same source.
        let begin = unsafe { core::mem::transmute::<*mut c_void, Rank>(begin) };
        let pages = written_pages(file);
        let mut fresh = vec![[0; PAGE]; pages.len()];
        pages.iter().zip(&mut fresh).for_each(|(page, place)| read(*page, place));
        Library { begin, pages, fresh }
    }

    /// The statics hold what they hold for the rank that runs: keeps that, and puts there what they held for another one.
    pub fn change(&self, before: &mut Statics, next: &Statics) {
        let mut kept = core::mem::take(&mut before.0).into_iter().peekable();
        let mut next = next.0.iter().peekable();
        for (number, (page, fresh)) in self.pages.iter().zip(&self.fresh).enumerate() {
            let is_fresh = holds(*page, fresh);
            if let Some((_, mut place)) = kept.next_if(|(other, _)| *other == number) {
                read(*page, &mut place);
                before.0.push((number, place));
            } else if !is_fresh {
                let mut place = Box::new([0; PAGE]);
                read(*page, &mut place);
                before.0.push((number, place));
            }
            match next.next_if(|(other, _)| *other == number) {
                Some((_, bytes)) => write(*page, bytes),
                None if !is_fresh => write(*page, fresh),
                None => {}
            }
        }
    }
}

/// The pages of the library that stay writable after it was loaded.
fn written_pages(file: PathBuf) -> Vec<usize> {
    let file = file.canonicalize().expect("it is there");
    let mut found = (file, Vec::new());
    // SAFETY: `segments` gets this very place.
    unsafe { libc::dl_iterate_phdr(Some(segments), (&raw mut found).cast()) };
    assert!(!found.1.is_empty(), "the library has no statics");
    found.1
}

unsafe extern "C" fn segments(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: `written_pages` gave it.
    let (file, pages) = unsafe { &mut *found.cast::<(PathBuf, Vec<usize>)>() };
    // SAFETY: by the system's promise, while this function runs.
    let info = unsafe { &*info };
    // SAFETY: as above.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    let name = PathBuf::from(name.to_string_lossy().into_owned());
    if name.canonicalize().ok().as_ref() != Some(file) {
        return 0;
    }
    // SAFETY: as above.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let range = |header: &libc::Elf64_Phdr| {
        let first = info.dlpi_addr + header.p_vaddr;
        (first as usize / PAGE * PAGE, (first + header.p_memsz) as usize)
    };
    // The linker's tables become read-only, as whole pages.
    let fixed = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO).map(range);
    let is_fixed =
        |page: usize| fixed.is_some_and(|(first, end)| first <= page && page + PAGE <= end.next_multiple_of(PAGE));
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0) {
        let (first, end) = range(header);
        pages.extend((first..end).step_by(PAGE).filter(|page| !is_fixed(*page)));
    }
    1
}

fn holds(page: usize, bytes: &Page) -> bool {
    // SAFETY: a page of the library, which stays loaded; only one rank runs, and it is inside a call of the simulation.
    unsafe { core::slice::from_raw_parts(core::ptr::with_exposed_provenance::<u8>(page), PAGE) == bytes }
}

fn read(page: usize, place: &mut Page) {
    // SAFETY: as above.
    unsafe { core::ptr::copy_nonoverlapping(core::ptr::with_exposed_provenance(page), place, 1) };
}

fn write(page: usize, bytes: &Page) {
    // SAFETY: as above, and writable.
    unsafe { core::ptr::copy_nonoverlapping(bytes, core::ptr::with_exposed_provenance_mut(page), 1) };
}

const PAGE: usize = 4096;
const NAME: &str = "libnetsim_rank.so";
