//! The C names that the library exports.

use crate::build::resolve::Choice;
use crate::failure::{At, Result};
use crate::shell;
use crate::tree::Tree;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Every `MPI_x` and `PMPI_x` of the standard ABI, and what chosen components export beside them.
pub fn exported(tree: &Tree, choice: &Choice) -> Result<BTreeSet<String>> {
    let path = tree.folder("ompi-core")?.join("api/mpi_functions.json");
    let table: Table = serde_json::from_str(&shell::read(&path)?).at(format!("read {}", path.display()))?;
    let mut names = BTreeSet::new();
    for function in table.functions.into_iter().filter(|function| function.in_abi) {
        if function.has_pmpi {
            names.insert(format!("P{}", function.name));
        }
        names.insert(function.name);
    }
    for component in &choice.components {
        names.extend(component.package.facts.exports.iter().cloned());
    }
    Ok(names)
}

#[derive(Deserialize)]
struct Table {
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    in_abi: bool,
    has_pmpi: bool,
}
