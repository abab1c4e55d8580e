//! `cargo xtask build --sizes`: how many bytes of the shared library belong to which crate, and its largest functions.

use crate::failure::{At, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Prints the sizes of the library below `dist`.
pub fn show(dist: &Path) -> Result<()> {
    let library = dist.join("lib/libmpi_abi.so.1");
    let bytes = std::fs::read(&library).at(format!("read {}", library.display()))?;
    let file = object::File::parse(&*bytes).at(format!("read {} as ELF", library.display()))?;
    // Two names of one function, such as MPI_Send and PMPI_Send, count once: the first of them.
    let mut seen = BTreeSet::new();
    let mut functions: Vec<(String, u64)> = Vec::new();
    let mut symbols: Vec<_> = file.symbols().filter(|symbol| symbol.is_definition() && symbol.size() > 0).collect();
    symbols.sort_by_key(|symbol| (symbol.address(), symbol.name().unwrap_or_default().to_owned()));
    for symbol in symbols {
        if symbol.kind() == SymbolKind::Text && seen.insert(symbol.address()) {
            let name = rustc_demangle::demangle(symbol.name().unwrap_or_default());
            functions.push((format!("{name:#}"), symbol.size()));
        }
    }
    let sections = |kind: &[SectionKind]| -> u64 {
        file.sections().filter(|section| kind.contains(&section.kind())).map(|section| section.size()).sum()
    };
    let text = sections(&[SectionKind::Text]);
    let data = sections(&[
        SectionKind::Data,
        SectionKind::ReadOnlyData,
        SectionKind::ReadOnlyDataWithRel,
        SectionKind::ReadOnlyString,
    ]);
    print!("{}", table(&functions, text, data));
    Ok(())
}

/// Crates first, then functions, each the largest first.
fn table(functions: &[(String, u64)], text: u64, data: u64) -> String {
    let mut crates: BTreeMap<&str, u64> = BTreeMap::new();
    functions.iter().for_each(|(name, size)| *crates.entry(owner(name)).or_default() += size);
    let named: u64 = crates.values().sum();
    let mut out = String::new();
    let mut put = |bytes: u64, what: &str| _ = writeln!(out, "{bytes:>9}  {what}");
    put(text, "code");
    put(data, "data, tables of unwinding and names among them");
    put(0, "of which by crate; what others made generic counts for the one that has the code:");
    let mut crates: Vec<_> = crates.into_iter().collect();
    crates.sort_by_key(|(name, size)| (u64::MAX - size, *name));
    crates.iter().for_each(|(name, size)| put(*size, name));
    put(text.saturating_sub(named), "without a name");
    put(0, "its largest functions:");
    let mut largest: Vec<_> = functions.iter().collect();
    largest.sort_by_key(|(name, size)| (u64::MAX - size, name));
    largest.iter().take(LARGEST).for_each(|(name, size)| put(*size, name));
    // The two headings have no bytes.
    out.replace("        0  ", "\n")
}

/// The crate that a function's name begins with; of `<A as B>::f` it is that of A.
fn owner(name: &str) -> &str {
    if name.starts_with("MPI_") || name.starts_with("PMPI_") {
        return "functions of the standard";
    }
    let start = name.trim_start_matches(['<', '&', '[', '(', '*', ' ']);
    let start = ["mut ", "const ", "dyn "].iter().fold(start, |start, word| start.strip_prefix(word).unwrap_or(start));
    let end = start.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(start.len());
    match (&start[..end], start[end..].starts_with("::")) {
        (owner, true) => owner,
        _ => "others",
    }
}

const LARGEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_an_owner() {
        for (name, wanted) in [
            ("coll_sm::large::reduce", "coll_sm"),
            ("<coll_sm::module::Sm as ompi_core::framework::coll::module::Module>::call", "coll_sm"),
            ("<&mut dyn opal_core::sync::Any as core::fmt::Debug>::fmt", "opal_core"),
            ("PMPI_Send", "functions of the standard"),
            ("memcpy", "others"),
            ("core::ptr::drop_in_place<opal_core::a::B>", "core"),
        ] {
            assert_eq!(owner(name), wanted, "{name}");
        }
    }

    #[test]
    fn crates_stand_before_functions() {
        let functions = [("a::small".to_owned(), 1), ("b::large".to_owned(), 30), ("a::middle".to_owned(), 9)];
        let table = table(&functions, 50, 5);
        let at = |what: &str| table.find(what).unwrap_or_else(|| panic!("{what} is not in\n{table}"));
        assert!(at("       30  b\n") < at("       10  a\n") && at("       10  a\n") < at("       30  b::large"));
        assert!(table.contains("       10  without a name"));
    }
}
