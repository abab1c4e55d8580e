//! A procedure as Fortran sees it: from a function of the data, or from mpi_fortran.json where the bindings differ.

use super::super::data::{Data, Function, Parameter};
use crate::failure::{At, Result, fail};
use crate::shell;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// mpi_fortran.json.
#[derive(Debug, Deserialize)]
pub struct Supplement {
    without_categories: Vec<String>,
    without: Vec<String>,
    /// Large twins that no generic name can tell from the plain procedure: mpi_f08 has them under their own name.
    explicit_large: Vec<String>,
    /// Texts that lose the blanks at their beginning, too.
    pub strip_both_ends: Vec<String>,
    /// Procedures whose result counts from one: the argument, and where it is an array, the argument with its length.
    pub one_based: BTreeMap<String, (String, String)>,
    /// How long the arrays of send and of receive types are.
    pub lengths: BTreeMap<String, (String, String)>,
    by_hand: BTreeMap<String, Vec<String>>,
}

/// A procedure.
#[derive(Debug)]
pub struct Procedure<'a> {
    /// As the standard writes it, MPI_Send.
    pub name: String,
    /// Without the error.
    pub arguments: Vec<Argument>,
    /// The type of a function.
    pub result: Option<&'static str>,
    /// It has an ierror.
    pub fails: bool,
    /// What C calls, where the shim is made from it.
    pub function: Option<&'a Function>,
    /// The name in mpi_f08 that it shares with another procedure.
    pub generic: Option<String>,
    /// Large counts: in mpi_f08 alone.
    pub large: bool,
    /// Of mpi_f08 alone, where a large twin is told from the plain procedure by nothing.
    pub hidden: bool,
    /// Its part of the standard.
    pub category: String,
}

/// A dummy argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As the standard names it.
    pub name: String,
    /// What it is.
    pub class: Class,
    /// How many.
    pub shape: Rank,
    /// Which way it goes.
    pub intent: Intent,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// INTEGER.
    Integer,
    /// LOGICAL.
    Logical,
    /// INTEGER(KIND=MPI_ADDRESS_KIND).
    Address,
    /// INTEGER(KIND=MPI_COUNT_KIND).
    Count,
    /// INTEGER(KIND=MPI_OFFSET_KIND).
    Offset,
    /// CHARACTER(LEN=*).
    Text,
    /// A choice buffer.
    Buffer,
    /// TYPE(C_PTR) of mpi_f08, an address elsewhere.
    Pointer,
    /// TYPE(MPI_Status) of mpi_f08, an array of integers elsewhere.
    Status,
    /// A status as an array of integers, also in mpi_f08.
    Integers,
    /// An INTEGER, or a type of mpi_f08: Comm, Datatype and so on.
    Handle(String),
    /// A procedure, and the name of its abstract interface.
    Procedure(String),
}

/// Scalar or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// One.
    Scalar,
    /// (*)
    Array,
    /// (3,*)
    Ranges,
    /// (count,*)
    Table,
}

/// INTENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// IN.
    In,
    /// OUT.
    Out,
    /// INOUT.
    InOut,
    /// None.
    Plain,
}

impl Supplement {
    /// Without anything.
    pub fn empty() -> Supplement {
        Supplement {
            without_categories: Vec::new(),
            without: Vec::new(),
            explicit_large: Vec::new(),
            strip_both_ends: Vec::new(),
            one_based: BTreeMap::new(),
            lengths: BTreeMap::new(),
            by_hand: BTreeMap::new(),
        }
    }

    /// Reads it.
    pub fn read(folder: &Path) -> Result<Supplement> {
        serde_json::from_str(&shell::read(&folder.join("mpi_fortran.json"))?).at("read mpi_fortran.json")
    }
}

/// All procedures, in the order of the data; then those that C does not have.
pub fn all<'a>(data: &'a Data, supplement: &Supplement) -> Result<Vec<Procedure<'a>>> {
    let mut all = Vec::new();
    let has = |function: &&Function| {
        !supplement.without_categories.contains(&function.category) && !supplement.without.contains(&function.name)
    };
    for function in data.functions.iter().filter(has) {
        let by_hand = supplement.by_hand.get(&function.name);
        let arguments: Vec<Argument> = match by_hand {
            Some(lines) => lines.iter().map(|line| written(line)).collect::<Result<_>>()?,
            None => function.params.iter().map(derived).collect::<Result<_>>()?,
        };
        let result = match function.result.as_str() {
            "double" => Some("DOUBLE PRECISION"),
            "MPI_Aint" => Some("INTEGER(KIND=MPI_ADDRESS_KIND)"),
            _ => None,
        };
        all.push(Procedure {
            name: function.name.clone(),
            arguments,
            result,
            fails: result.is_none() && function.name != "MPI_Pcontrol",
            function: by_hand.is_none().then_some(function),
            generic: None,
            large: function.large_count_of.is_some(),
            hidden: false,
            category: function.category.clone(),
        });
    }
    let known: Vec<&str> = data.functions.iter().map(|function| function.name.as_str()).collect();
    for (name, lines) in supplement.by_hand.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        let arguments = lines.iter().map(|line| written(line)).collect::<Result<_>>()?;
        let fails = name != "MPI_F_sync_reg";
        let (name, category) = (name.clone(), "fortran".to_owned());
        let (result, function, generic) = (None, None, None);
        all.push(Procedure {
            name,
            arguments,
            result,
            fails,
            function,
            generic,
            large: false,
            hidden: false,
            category,
        });
    }
    share_names(&mut all, data, supplement);
    Ok(all)
}

/// Large twins get the plain procedure's name, unless their arguments have the same types.
fn share_names(all: &mut [Procedure], data: &Data, supplement: &Supplement) {
    let types = |one: &Procedure| -> Vec<(Class, Rank)> {
        one.arguments.iter().map(|argument| (argument.class.as_kind(), argument.shape)).collect()
    };
    let plain: BTreeMap<String, Vec<(Class, Rank)>> = all.iter().map(|one| (one.name.clone(), types(one))).collect();
    for one in all.iter_mut().filter(|one| one.large) {
        let twin = data.functions.iter().find(|function| function.name == one.name);
        let Some(of) = twin.and_then(|twin| twin.large_count_of.clone()) else { continue };
        if supplement.explicit_large.contains(&one.name) {
            continue;
        }
        one.hidden = plain.get(&of).is_some_and(|other| *other == types(one));
        one.generic = Some(of);
    }
}

/// `name: class(shape) intent`, as mpi_fortran.json has it.
fn written(line: &str) -> Result<Argument> {
    let wrong = || fail(format!("mpi_fortran.json: `{line}` is no argument"));
    let (name, rest) = line.split_once(": ").ok_or_else(wrong)?;
    let (what, last) = rest.split_once(' ').unwrap_or((rest, ""));
    let (what, shape) = match what.split_once('(') {
        Some((what, "*)")) => (what, Rank::Array),
        Some((what, "count,*)")) => (what, Rank::Table),
        Some(_) => return Err(wrong()),
        None => (what, Rank::Scalar),
    };
    let class = match what {
        "integer" => Class::Integer,
        "logical" => Class::Logical,
        "address" => Class::Address,
        "count" => Class::Count,
        "text" => Class::Text,
        "buffer" => Class::Buffer,
        "pointer" => Class::Pointer,
        "status" => Class::Status,
        "integers" => Class::Integers,
        "procedure" => Class::Procedure(last.to_owned()),
        "comm" | "info" | "session" | "datatype" | "win" | "request" => {
            Class::Handle(format!("{}{}", what[..1].to_uppercase(), &what[1..]))
        }
        _ => return Err(wrong()),
    };
    let intent = match last {
        "in" => Intent::In,
        "out" => Intent::Out,
        "inout" => Intent::InOut,
        _ => Intent::Plain,
    };
    Ok(Argument { name: name.to_owned(), class, shape, intent })
}

/// From a parameter of C.
fn derived(parameter: &Parameter) -> Result<Argument> {
    let base = parameter.c_type.trim_start_matches("const ").trim_end_matches(['*', ' ']);
    let class = match (parameter.kind.as_str(), base) {
        ("STRING", _) => Class::Text,
        ("STATUS", _) => Class::Status,
        ("C_BUFFER", _) => Class::Pointer,
        ("BUFFER", _) => Class::Buffer,
        ("LOGICAL" | "LOGICAL_BOOLEAN", _) => Class::Logical,
        ("FUNCTION" | "FUNCTION_SMALL" | "POLYFUNCTION", name) => Class::Procedure(name.to_owned()),
        (_, "int" | "int (*)[3]") => Class::Integer,
        (_, "MPI_Aint") => Class::Address,
        (_, "MPI_Count") => Class::Count,
        (_, "MPI_Offset") => Class::Offset,
        (_, handle) if HANDLES.contains(&handle.trim_start_matches("MPI_")) => {
            Class::Handle(handle.trim_start_matches("MPI_").to_owned())
        }
        (kind, _) => {
            let text = format!(
                "Fortran's {}: {kind} is no kind that it knows; write it into mpi_fortran.json",
                parameter.decl
            );
            return Err(fail(text));
        }
    };
    let is_array = (parameter.has_length() || parameter.decl.contains('[')) && class != Class::Text;
    let shape = match (parameter.decl.contains("[3]"), is_array) {
        (true, _) => Rank::Ranges,
        (false, true) => Rank::Array,
        (false, false) => Rank::Scalar,
    };
    // The standard gives none to what may be a constant such as MPI_STATUS_IGNORE, nor to buffers that are written.
    let may_be_constant = matches!(class, Class::Status) || ["WEIGHT", "ERROR_CODE"].contains(&parameter.kind.as_str());
    let intent = match (parameter.direction.as_str(), &class) {
        (_, Class::Procedure(_)) => Intent::Plain,
        ("in", Class::Buffer) if !parameter.c_type.starts_with("const") => Intent::Plain,
        ("in", _) => Intent::In,
        (_, Class::Buffer) => Intent::Plain,
        ("out", _) if may_be_constant => Intent::Plain,
        ("out", _) => Intent::Out,
        _ => Intent::InOut,
    };
    Ok(Argument { name: parameter.name.clone(), class, shape, intent })
}

/// The handles of Fortran.
pub const HANDLES: &[&str] =
    &["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];

impl Class {
    /// What tells specific procedures apart: the three kinds of large integers are one.
    fn as_kind(&self) -> Class {
        match self {
            Class::Address | Class::Offset => Class::Count,
            other => other.clone(),
        }
    }
}

impl Argument {
    /// The operation goes on after the procedure has returned.
    pub fn is_new_request(&self) -> bool {
        self.class == Class::Handle("Request".to_owned()) && self.intent == Intent::Out
    }
}

impl Procedure<'_> {
    /// In lower case and without a prefix: comm_rank.
    pub fn stem(&self) -> String {
        self.name["MPI_".len()..].to_lowercase()
    }

    /// Of MPI 1, and not in mpi_f08.
    pub fn is_older(&self) -> bool {
        ["keyval_create", "keyval_free", "attr_put", "attr_get", "attr_delete"].contains(&self.stem().as_str())
    }

    /// Whether the compiler describes a buffer.
    pub fn has_buffer(&self) -> bool {
        self.arguments.iter().any(|argument| argument.class == Class::Buffer)
    }
}
