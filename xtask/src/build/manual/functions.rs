//! A page for every function of MPI: binding and parameters from the standard's data, the sentence of its row.

use super::keys::sections;
use super::kinds::{CLASSES, KINDS, NAMES, is_about};
use super::roff::plain;
use crate::api::data::{Data, Function, Parameter};
use crate::api::rows::{self, FunctionRow};
use crate::failure::{Result, fail};
use crate::shell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Writes `share/man/man3`; `core` is ompi-core's folder. A twin for large counts is a line that leads to the plain one.
pub fn write(stage: &Path, core: &Path, version: &str) -> Result<()> {
    let data = Data::read(&core.join("api"))?;
    let rows = rows::scan(&core.join("src/abi"))?;
    let book = Book::new(&data, &rows);
    let folder = stage.join("share/man/man3");
    for function in &data.functions {
        let text = match &function.large_count_of {
            Some(plain) => format!(".so man3/{plain}.3\n"),
            None => book.page(function, version)?,
        };
        shell::write(&folder.join(format!("{}.3", function.name)), &text)?;
    }
    Ok(())
}

struct Book<'a> {
    /// Twin for large counts of a function.
    twins: BTreeMap<&'a str, &'a Function>,
    /// In the order of the chapters' files.
    rows: &'a [FunctionRow],
}

impl<'a> Book<'a> {
    fn new(data: &'a Data, rows: &'a [FunctionRow]) -> Book<'a> {
        let twins = data.functions.iter().filter_map(|twin| Some((twin.large_count_of.as_deref()?, twin))).collect();
        Book { twins, rows }
    }

    fn page(&self, function: &Function, version: &str) -> Result<String> {
        let name = &function.name;
        let row = self.rows.iter().find(|row| row.name == *name);
        let row =
            row.ok_or_else(|| fail(format!("{name} has no row in ompi-core/src/abi, so it has no manual page")))?;
        let (about, standard) = parts(&row.doc);
        let mut text = format!(".TH {name} 3 \"\" \"ompi\\-rs {version}\" \"MPI\"\n.SH NAME\n{name} \\- ");
        _ = write!(
            text,
            "{}\n.SH SYNOPSIS\n.nf\n#include <mpi.h>\n\n{}",
            plain(first_sentence(&about)),
            binding(function)
        );
        if let Some(twin) = self.twins.get(name.as_str()) {
            text.push_str(&binding(twin));
        }
        text.push_str(".fi\n");
        if !function.params.is_empty() {
            text.push_str(".SH PARAMETERS\n");
            for parameter in &function.params {
                text.push_str(&described(parameter, name)?);
            }
        }
        _ = write!(text, ".SH DESCRIPTION\n{}\n", plain(&about));
        if let Some(since) = &function.deprecated {
            _ = write!(text, ".PP\nDeprecated since MPI {since}");
            match &function.replaced_by {
                Some(other) => _ = writeln!(text, "; use \n.BR {other} (3)."),
                None => text.push_str(".\n"),
            }
        }
        text.push_str(&sections(name));
        text.push_str(&errors(function, row)?);
        _ = write!(text, ".SH STANDARD\nMPI 5.0{}", if standard.is_empty() { "" } else { " " });
        _ = writeln!(
            text,
            "{}; the function is there since MPI {}.",
            plain(&standard.replace('§', "section ")),
            // The data does not tell the versions of MPI 1 apart.
            if function.since.starts_with("1.") { "1" } else { &function.since }
        );
        text.push_str(&self.see_also(function, row));
        Ok(text)
    }

    /// Its neighbours in the chapter's file, and the programs.
    fn see_also(&self, function: &Function, row: &FunctionRow) -> String {
        let near: Vec<&str> = self
            .rows
            .iter()
            .filter(|other| other.module == row.module && !self.twins.values().any(|twin| twin.name == other.name))
            .map(|other| other.name.as_str())
            .collect();
        let own = near.iter().position(|name| *name == function.name).unwrap_or(0);
        let around = near[own.saturating_sub(NEAR)..(own + NEAR + 1).min(near.len())].iter().copied();
        let mut others: Vec<String> =
            around.filter(|name| *name != function.name).map(|name| format!(".BR {name} (3)")).collect();
        others.extend(["mpicc", "mpirun"].map(|name| format!(".BR {name} (1)")));
        format!(".SH SEE ALSO\n{}\n", others.join(",\n"))
    }
}

/// A row's comment without the mention of the standard, and that mention.
fn parts(doc: &str) -> (String, String) {
    let (about, standard) = doc.rsplit_once("MPI 5.0 §").map_or((doc, ""), |(about, rest)| (about, rest));
    let standard = standard.split_whitespace().next().unwrap_or("").trim_end_matches(['.', ',', ';', ':']);
    let standard = if standard.is_empty() { String::new() } else { format!("§{standard}") };
    // A comment that mentions the standard in mid-sentence stays whole.
    match about.trim_end().ends_with(['.', ':']) || about.is_empty() {
        true => (about.trim().replace('`', ""), standard),
        false => (doc.trim().replace('`', ""), standard),
    }
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

fn binding(function: &Function) -> String {
    let parameters: Vec<&str> = function.params.iter().map(|parameter| parameter.decl.as_str()).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    format!(".B {}\n", plain(&format!("{} {}({parameters});", function.result, function.name)))
}

fn described(parameter: &Parameter, function: &str) -> Result<String> {
    let Parameter { name, kind, direction, .. } = parameter;
    let (_, meaning, _) = known(kind, function)?;
    let own = NAMES.iter().find(|(known, _)| known == name).map(|(_, meaning)| *meaning);
    let meaning = match (name.as_str(), kind.as_str(), function.contains("ecv") || function.contains("robe")) {
        ("source", "RANK", true) => "rank of the source, MPI_ANY_SOURCE or MPI_PROC_NULL",
        ("tag", "TAG", true) => "tag of the message, or MPI_ANY_TAG",
        (_, "STATUS", _) if direction != "out" => "what is known of a finished operation",
        (_, "INFO", _) if function.starts_with("MPI_Info_") => "info object",
        ("root", ..) if MEETING.contains(&function) => "rank of the root, whose other arguments count alone",
        _ => own.unwrap_or(meaning),
    };
    Ok(format!(".TP\n.IR {} \" ({direction})\"\n{}\n", plain(name), plain(meaning)))
}

fn known(kind: &str, function: &str) -> Result<&'static (&'static str, &'static str, &'static str)> {
    let row = KINDS.iter().find(|(known, ..)| *known == kind);
    row.ok_or_else(|| {
        fail(format!("{function}: no words for parameters of kind {kind}: add them in xtask/src/build/manual/kinds.rs"))
    })
}

/// What it returns when it fails, and whose error handler is called before.
fn errors(function: &Function, row: &FunctionRow) -> Result<String> {
    let mut text = String::from(".SH ERRORS\n");
    let tool = function.name.starts_with("MPI_T_");
    if !row.body {
        let code = if tool { "MPI_T_ERR_NOT_SUPPORTED" } else { "MPI_ERR_UNSUPPORTED_OPERATION" };
        _ = writeln!(text, "This version of ompi\\-rs does not have it yet: every call ends with {code}.");
    }
    if !row.fails {
        text.push_str("It returns its result and no error code.\n");
        return Ok(text);
    }
    if tool {
        text.push_str("It returns MPI_SUCCESS or an MPI_T_ERR_\\&... code. No error handler is called.\n");
        return Ok(text);
    }
    let mut classes = BTreeSet::new();
    for parameter in &function.params {
        let own = CLASSES.iter().filter(|(of, name, _)| is_about(of, &function.name) && *name == parameter.name);
        let mut wrong: Vec<&str> = own.map(|(_, _, class)| *class).collect();
        // These come instead of the kind's; a communicator can be a bad handle all the same.
        if wrong.is_empty() || parameter.kind == "COMMUNICATOR" {
            wrong.push(known(&parameter.kind, &function.name)?.2);
        }
        // What a call only gives back can be at a bad address, and nothing else is wrong with it.
        let is_given = parameter.direction != "out" || parameter.kind == "BUFFER";
        let wrong = wrong.into_iter().filter(|class| is_given && !class.is_empty());
        classes.extend(wrong.map(|class| format!("MPI_ERR_{class}")));
        if parameter.direction != "in" || parameter.decl.contains('[') {
            classes.insert("MPI_ERR_ARG".to_owned());
        }
    }
    classes.insert("MPI_ERR_OTHER".to_owned());
    let of = handler(function);
    let classes: Vec<String> = classes.into_iter().collect();
    let statuses = function.params.iter().any(|parameter| parameter.name == "array_of_statuses");
    _ = writeln!(
        text,
        "It returns MPI_SUCCESS, or an error code after it has called the error handler of {of}.\n\
         Classes of its arguments' errors: {}.\n.BR MPI_Error_string (3)\nputs the class into words; \
         a handler that ends processes prints which argument was wrong, and why.",
        classes.join(", ")
    );
    if statuses {
        text.push_str(
            "When an operation failed it returns MPI_ERR_IN_STATUS, and each status has its operation's code;\n\
             with MPI_STATUSES_IGNORE it returns the code of the first one that failed.\n",
        );
    }
    Ok(text)
}

/// Whose error handler a call raises, as `ompi-core/src/abi/raise.rs` chooses it.
fn handler(function: &Function) -> &'static str {
    let gets =
        |kind: &str| function.params.iter().any(|parameter| parameter.kind == kind && parameter.direction != "out");
    let name = &function.name;
    let is_io =
        name.starts_with("MPI_File_") && !name.ends_with("errhandler") || name.starts_with("MPI_Register_datarep");
    match HANDLERS.iter().find(|(kind, _)| gets(kind)) {
        _ if is_io && !gets("FILE") => "MPI_FILE_NULL, by default MPI_ERRORS_RETURN",
        Some((_, of)) => of,
        None if name == "MPI_Session_init" || name.contains("_from_group") => "its argument errhandler",
        None => "MPI_COMM_SELF, by default MPI_ERRORS_ARE_FATAL",
    }
}

/// Kinds of handles that have an error handler, the most special first.
const HANDLERS: &[(&str, &str)] = &[
    ("WINDOW", "the window, by default MPI_ERRORS_ARE_FATAL"),
    ("FILE", "the file, by default MPI_ERRORS_RETURN"),
    ("SESSION", "the session"),
    ("COMMUNICATOR", "the communicator, by default MPI_ERRORS_ARE_FATAL"),
    (
        "REQUEST",
        "the communicator of the operation that failed, else of MPI_COMM_SELF, by default MPI_ERRORS_ARE_FATAL",
    ),
];

/// They are collective over one group, which meets another one or has it started.
const MEETING: &[&str] = &["MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple"];

/// How many functions before and behind it a page mentions.
const NEAR: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_has_a_sentence_and_a_section() {
        let (about, standard) = parts("Sends a message. Returns `later`. MPI 5.0 §3.2.1.");
        assert_eq!((about.as_str(), standard.as_str()), ("Sends a message. Returns later.", "§3.2.1"));
        assert_eq!(first_sentence(&about), "Sends a message");
        assert_eq!(parts("Does it.").0, "Does it.");
    }

    #[test]
    fn every_function_has_its_page() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ompi-core");
        let stage = std::env::temp_dir().join(format!("ompi-rs-man3-{}", std::process::id()));
        write(&stage, &core, "1").unwrap();
        let page = |name: &str| shell::read(&stage.join(format!("share/man/man3/{name}.3"))).unwrap();
        let functions = Data::read(&core.join("api")).unwrap().functions;
        assert!(functions.len() > 600);
        for function in &functions {
            let text = page(&function.name);
            match &function.large_count_of {
                Some(plain) => assert_eq!(text, format!(".so man3/{plain}.3\n")),
                None => assert!(text.contains(&format!("\n{} \\- ", function.name)) && text.contains(".SH ERRORS")),
            }
        }
        let send = page("MPI_Send");
        for line in [
            ".B int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);\n",
            ".B int MPI_Send_c(const void *buf, MPI_Count count, ",
            ".IR dest \" (in)\"\nrank of the destination, or MPI_PROC_NULL\n",
            "MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERR_TYPE.",
            "MPI 5.0 section 3.2.1; the function is there since MPI 1.\n",
            ".BR MPI_Bsend (3)",
        ] {
            assert!(send.contains(line), "{line} is missing in\n{send}");
        }
        for (name, line) in [
            ("MPI_Bcast", "MPI_ERR_OTHER, MPI_ERR_ROOT, MPI_ERR_TYPE."),
            ("MPI_Comm_rank", "errors: MPI_ERR_ARG, MPI_ERR_COMM, MPI_ERR_OTHER."),
            ("MPI_Irecv", "MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_OTHER, MPI_ERR_RANK"),
            ("MPI_Waitsome", "it returns MPI_ERR_IN_STATUS"),
            ("MPI_Wait", "error handler of the communicator of the operation that failed"),
            ("MPI_File_open", "error handler of MPI_FILE_NULL"),
            ("MPI_File_delete", "error handler of MPI_FILE_NULL"),
            ("MPI_File_sync", "error handler of the file"),
            ("MPI_Session_init", "error handler of its argument errhandler"),
            ("MPI_Comm_create_from_group", "error handler of its argument errhandler"),
            ("MPI_Type_size", "error handler of MPI_COMM_SELF"),
            ("MPI_Barrier", "error handler of the communicator,"),
            ("MPI_Comm_spawn", "MPI_ERR_ROOT, MPI_ERR_SPAWN."),
            ("MPI_Comm_spawn", "rank of the root, whose other arguments count alone"),
            ("MPI_Lookup_name", "MPI_ERR_NAME"),
        ] {
            let text = page(name);
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
        what_is_tried_is_listed(&core, page);
        std::fs::remove_dir_all(stage).unwrap();
    }

    /// The classes that `tests/bad_input/arguments.txt` wants stand on the pages.
    fn what_is_tried_is_listed(core: &Path, page: impl Fn(&str) -> String) {
        let text = shell::read(&core.join("../tests/bad_input/arguments.txt")).unwrap();
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut excepted = BTreeSet::new();
        let mut head = "";
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match (line.starts_with(' '), line.trim().split_once(' ')) {
                (false, _) => head = line.split("  #").next().unwrap_or_default().trim(),
                (true, Some(("!", rest))) => {
                    wanted.entry(head).or_default().insert(rest.split(' ').next().unwrap_or_default());
                }
                (true, Some(("-", _))) => _ = excepted.insert(head),
                _ => {}
            }
        }
        let (mut tried, mut missing) = (0, Vec::new());
        for function in Data::read(&core.join("api")).unwrap().functions {
            let text = page(&function.name);
            let listed = text.split_once("arguments' errors: ").map(|(_, rest)| rest.split_once('.').unwrap().0);
            let Some(listed) = listed.map(|listed| listed.split(", ").collect::<BTreeSet<_>>()) else { continue };
            for parameter in function.params.iter().filter(|parameter| parameter.direction != "out") {
                let own = format!("{}.{}", function.name, parameter.name);
                let mut heads = vec![own.clone(), format!("*.{}", parameter.name)];
                let is_value = !parameter.decl.contains(['[', '*']);
                if is_value && !excepted.contains(own.as_str()) && !wanted.contains_key(own.as_str()) {
                    heads.push(format!("{} value", parameter.kind));
                }
                // A root is no rank like others.
                heads.retain(|head| parameter.name != "root" || !head.ends_with(" value"));
                for class in heads.iter().filter_map(|head| wanted.get(head.as_str())).flatten() {
                    if !listed.contains(class) {
                        missing.push(format!("{own} {class}"));
                    }
                    tried += 1;
                }
            }
        }
        assert_eq!(missing, Vec::<String>::new(), "`kinds.rs` lacks these classes");
        assert!(tried > 500, "{tried}");
    }
}
