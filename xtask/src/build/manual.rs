//! Manual pages, made of the tables that the programs themselves read their command lines by.

mod functions;
mod keys;
mod kinds;
mod roff;

use crate::failure::{Result, fail};
use crate::shell;
use roff::plain;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Page, the program below `bin` and the argument that makes it print its table, and further names of the page.
const PAGES: &[(&str, &str, &[&str])] = &[
    ("mpirun", "--ompi-rs-manual", &["mpiexec"]),
    ("mpicc", "--showme:manual", &["mpicxx", "mpic++", "mpiCC", "mpifort", "mpif90", "mpif77"]),
    ("ompi_info", "--ompi-rs-manual", &[]),
];

/// Writes `share/man/man1` for the programs that `stage/bin` has, and `share/man/man3` for the functions of MPI as `core`,
/// ompi-core's folder, has them.
pub fn write(stage: &Path, core: &Path, version: &str) -> Result<()> {
    functions::write(stage, core, version)?;
    let folder = stage.join("share/man/man1");
    for (name, argument, aliases) in PAGES {
        let program = stage.join("bin").join(name);
        if !program.exists() {
            continue;
        }
        let table = shell::output(Command::new(program).arg(argument))?;
        let others = PAGES.iter().map(|(other, ..)| *other).filter(|other| other != name).collect::<Vec<_>>();
        let page = page(&table, version, &others).ok_or_else(|| {
            fail(format!("bin/{name} {argument} did not print a table of options; it printed:\n{table}"))
        })?;
        shell::write(&folder.join(format!("{name}.1")), &page)?;
        for alias in *aliases {
            shell::write(&folder.join(format!("{alias}.1")), &format!(".so man1/{name}.1\n"))?;
        }
    }
    Ok(())
}

/// A page in man(7); `None` if the table lacks a line that every program has.
fn page(table: &str, version: &str, others: &[&str]) -> Option<String> {
    let lines: Vec<(&str, &str)> = table.lines().filter_map(|line| line.split_once('\t')).collect();
    let all = |kind: &'static str| lines.iter().filter(move |(have, _)| *have == kind).map(|(_, rest)| *rest);
    let (name, about) = (all("name").next()?, all("about").next()?);
    let mut text = format!(".TH {} 1 \"\" \"ompi-rs {version}\" \"ompi-rs\"\n", name.to_uppercase());
    _ = write!(text, ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", plain(name), plain(about));
    let usages: Vec<String> = all("usage").map(|usage| format!(".B {}\n", plain(usage))).collect();
    text.push_str(&usages.join(".br\n"));
    text.push_str(".SH OPTIONS\n");
    for option in all("option") {
        let (names, meaning) = option.split_once('\t')?;
        _ = write!(text, ".TP\n.B {}\n{}\n", plain(names), plain(meaning));
    }
    if usages.is_empty() || all("option").next().is_none() {
        return None;
    }
    text.push_str(".SH NOTES\n");
    text.push_str(&notes(all("text")));
    let others: Vec<String> = others.iter().map(|other| format!(".BR {} (1)", plain(other))).collect();
    _ = write!(text, ".SH SEE ALSO\n{}\n", others.join(",\n"));
    Some(text)
}

/// Paragraphs; indented lines are examples and stay as they are.
fn notes<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in lines {
        let indented = line.starts_with("  ");
        if indented != inside {
            text.push_str(if indented { ".PP\n.nf\n" } else { ".fi\n" });
        }
        inside = indented;
        match line.trim_end() {
            "" => text.push_str(".PP\n"),
            line => _ = writeln!(text, "{}", plain(line)),
        }
    }
    text + if inside { ".fi\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page() {
        let table =
            "name\tx\nabout\tdoes it\nusage\tx [file]\noption\t-a N\tall of it\ntext\t.first\ntext\t\ntext\t  x -a\n";
        let page = page(table, "1.0", &["y"]).unwrap();
        for line in [
            ".TH X 1",
            "x \\- does it",
            ".B x [file]",
            ".B \\-a N\nall of it",
            "\n\\&.first\n.PP\n",
            ".nf\n  x \\-a\n.fi\n",
            ".BR y (1)",
        ] {
            assert!(page.contains(line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(page("usage: x\n", "1", &[]).is_none());
        assert!(page("name\tx\nabout\ty\nusage\tx\n", "1", &[]).is_none());
    }
}
