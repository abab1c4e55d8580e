//! The standard's functions and constants as ompi-core/api has them.

use crate::failure::{At, Result};
use crate::shell;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What the library must offer.
#[derive(Debug)]
pub struct Data {
    /// The functions of the standard ABI, and no others.
    pub functions: Vec<Function>,
    /// All constants.
    pub constants: Vec<Constant>,
    /// Functions that a version of the standard removed, with that version; C has them in a header.
    pub removed: BTreeMap<String, String>,
}

/// A function.
#[derive(Debug, Deserialize)]
pub struct Function {
    /// With `MPI_`.
    pub name: String,
    /// C type of the result.
    #[serde(rename = "return")]
    pub result: String,
    /// In order.
    pub params: Vec<Parameter>,
    /// Its part of the standard.
    pub category: String,
    /// The plain function of which this is the twin with large counts.
    #[serde(default)]
    pub large_count_of: Option<String>,
    /// The version of the standard that brought it.
    pub since: String,
    /// The version of the standard that deprecated it.
    #[serde(default)]
    pub deprecated: Option<String>,
    /// What a program calls instead.
    #[serde(default)]
    pub replaced_by: Option<String>,
    in_abi: bool,
}

/// A parameter.
#[derive(Debug, Deserialize)]
pub struct Parameter {
    /// As the standard names it.
    pub name: String,
    /// What it means: one of the standard's own kinds.
    pub kind: String,
    /// `in`, `out` or `inout`.
    pub direction: String,
    /// As the compiler sees it.
    pub c_type: String,
    /// As C declares it.
    pub decl: String,
    #[serde(default)]
    length: serde_json::Value,
}

impl Parameter {
    /// The parameter or constant that says how long it is.
    pub fn length(&self) -> Option<&str> {
        self.length.as_str()
    }

    /// Whether it is an array, as the standard's tables say.
    pub fn has_length(&self) -> bool {
        !self.length.is_null()
    }
}

/// A constant.
#[derive(Debug, Deserialize)]
pub struct Constant {
    /// With `MPI_`.
    pub name: String,
    /// What it belongs to: handle-comm, error-class and so on.
    pub kind: String,
    /// Its C type.
    pub c_type: String,
    /// Its value; an address or a handle as a number.
    pub value: i64,
}

impl Data {
    /// Reads both files of `folder`.
    pub fn read(folder: &Path) -> Result<Data> {
        let (functions, constants) = (folder.join("mpi_functions.json"), folder.join("mpi_abi_constants.json"));
        let mut file: Functions = serde_json::from_str(&shell::read(&functions)?).at("read mpi_functions.json")?;
        file.functions.retain(|function| function.in_abi);
        let constants: Constants = serde_json::from_str(&shell::read(&constants)?).at("read mpi_abi_constants.json")?;
        Ok(Data { functions: file.functions, constants: constants.constants, removed: file.meta.removed })
    }
}

#[derive(Deserialize)]
struct Functions {
    meta: Meta,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "removed_functions_not_in_abi")]
    removed: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Constants {
    constants: Vec<Constant>,
}
