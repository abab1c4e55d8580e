//! For tests of crates that open foreign libraries: what their structures say, compared with `header.c` and with the installed header.

use std::path::Path;
use std::process::Command;

/// Compiles `src/header.c` of a crate against the header of a pkg-config package, and once more with `SEED_<seed>_MISTAKE`, which must not
/// compile. Where the header is not installed nothing is compared: `cargo xtask build` refuses the component there.
///
/// # Panics
/// Where the outcome is another one.
pub fn compile(crate_folder: &str, package: &str, seed: &str) {
    let Ok(flags) = Command::new("pkg-config").args(["--cflags", package]).output() else { return };
    if !flags.status.success() {
        return;
    }
    let flags = String::from_utf8(flags.stdout).expect("flags of a compiler");
    let source = Path::new(crate_folder).join("src/header.c");
    for (mistake, good) in [(format!("-D{seed}_NO_MISTAKE"), true), (format!("-DSEED_{seed}_MISTAKE"), false)] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-fsyntax-only", "-Wall", "-Werror", &mistake]).args(flags.split_whitespace()).arg(&source);
        let outcome = gcc.output().expect("gcc runs");
        assert_eq!(outcome.status.success(), good, "{mistake}: {}", String::from_utf8_lossy(&outcome.stderr));
    }
}

/// Compares the lines of `header.c` on sizes and places, `SAME(sizeof…` and `PLACE…`, with those that a crate's structures make; of the
/// header's the seeded mistake is left out.
///
/// # Panics
/// Where one side has a line that the other one lacks.
pub fn compare(header: &str, mistake: &str, lines: impl IntoIterator<Item = String>) {
    let mut said: Vec<&str> =
        header.lines().filter(|line| line.starts_with("PLACE") || line.starts_with("SAME(sizeof")).collect();
    assert!(said.contains(&mistake), "`{mistake}` is not in header.c");
    said.retain(|line| *line != mistake);
    let mut missing: Vec<String> = Vec::new();
    for line in lines {
        match said.iter().position(|one| *one == line) {
            Some(at) => drop(said.swap_remove(at)),
            None => missing.push(line),
        }
    }
    assert!(missing.is_empty() && said.is_empty(), "only in abi.rs: {missing:#?}; only in header.c: {said:#?}");
}

/// Lines on the places of fields.
pub fn places<'a>(all: &'a [(&'a str, usize)]) -> impl Iterator<Item = String> + 'a {
    all.iter().map(|(field, at)| format!("PLACE({field}, {at});"))
}

/// Lines on the sizes of types.
pub fn sizes<'a>(all: &'a [(&'a str, usize)]) -> impl Iterator<Item = String> + 'a {
    all.iter().map(|(name, bytes)| format!("SAME(sizeof({name}), {bytes});"))
}
