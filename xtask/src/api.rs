//! `cargo xtask api` compares mpi.h, the rows and the standard's data, and lists the functions that work.
//!
//! Three things are compared, each by the compiler that knows best: a C file re-declares every function and asserts
//! every constant against mpi.h; a Rust crate assigns every row to a function pointer of the type that the data gives;
//! names are compared as sets. A function counts as done when its row has a body and a program of tests/c calls it.

mod coverage;
pub mod data;
pub mod fortran;
mod header;
pub mod rows;

use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::tree::Tree;
use coverage::{ApiReport, State};
use data::Data;
use std::path::Path;

/// Options of `api`.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Write every function with its state as JSON
    #[arg(long)]
    pub json: bool,
    /// List the functions of a category that do not work yet (all: of every category)
    #[arg(long, value_name = "CATEGORY")]
    pub missing: Option<String>,
    /// Write what ompi-core/fortran has of the standard's data instead of comparing it
    #[arg(long)]
    pub bless: bool,
}

/// The subcommand.
pub fn api(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    if options.bless {
        fortran::compare(&tree.root, &Data::read(&tree.root.join("ompi-core/api"))?, true)?;
    }
    let report = check(&tree.root, &tree.target, progress)?;
    if options.json {
        println!("{}", report.json());
    } else if let Some(category) = &options.missing {
        missing(&report, category)?;
    } else {
        print!("{}", report.table());
    }
    match report.mismatches.as_slice() {
        [] => Ok(()),
        all => Err(fail(format!("{}\n{} mismatches between mpi.h, rows and data", all.join("\n"), all.len()))),
    }
}

/// Compares everything below `root`; generated files go to `target`/api.
pub fn check(root: &Path, target: &Path, progress: &Progress) -> Result<ApiReport> {
    let data = Data::read(&root.join("ompi-core/api"))?;
    let rows = rows::scan(&root.join("ompi-core/src/abi"))?;
    let mut mismatches = rows::names(&rows, &data);
    let folder = target.join("api");
    let count = format!("{} functions, {} constants", data.functions.len(), data.constants.len());
    mismatches.extend(progress.phase("compare mpi.h with the standard's data", || {
        Ok((header::compare(root, &folder, &data)?, count.clone()))
    })?);
    mismatches.extend(progress.phase("compare Fortran's interfaces with the standard's data", || {
        Ok((fortran::compare(root, &data, false)?, String::new()))
    })?);
    // A row that is missing would only repeat itself as a compiler's error.
    if mismatches.is_empty() {
        mismatches.extend(progress.phase("compare the rows with the standard's data", || {
            Ok((rows::compare(root, &folder, &rows, &data)?, format!("{} rows", rows.len())))
        })?);
    }
    let calls = coverage::tests(&root.join("tests/c"), &root.join("ompi-core/include"), &folder)?;
    Ok(ApiReport::new(&data, &rows, &calls, mismatches))
}

fn missing(report: &ApiReport, category: &str) -> Result<()> {
    let known = report.functions.iter().any(|function| function.category == category);
    if !known && category != "all" {
        let mut all: Vec<&str> = report.functions.iter().map(|function| function.category.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        return Err(crate::failure::refuse(format!(
            "there is no category {category}; there are all, {}",
            all.join(", ")
        )));
    }
    let wanted = report.functions.iter().filter(|function| category == "all" || function.category == category);
    for function in wanted.filter(|function| function.state != State::Done) {
        println!("{:<44} {}", function.name, function.state.text());
    }
    Ok(())
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask api                 compares, and counts functions by category
  cargo xtask api --missing all   functions that do not work yet
  cargo xtask api --json          every function with its state
  cargo xtask api --bless         makes ompi-core/fortran of the standard's data";
