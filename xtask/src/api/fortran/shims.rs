//! The C side of each procedure: a Rust function with the name that Fortran compilers give it.

use super::procedure::{Argument, Class, Intent, Procedure, Rank, Supplement};
use crate::api::data::{Function, Parameter};
use crate::failure::{Result, fail};
use std::fmt::Write;

/// What makes the shim of a procedure.
pub struct Shim<'a> {
    /// As Fortran sees it.
    pub procedure: &'a Procedure<'a>,
    /// As C has it.
    pub function: &'a Function,
    /// What the data does not say.
    pub supplement: &'a Supplement,
}

/// How one argument travels.
struct Passed {
    /// Type of the shim's argument.
    rust: String,
    /// Type of C's parameter.
    c: String,
    /// What C gets.
    value: String,
    before: String,
    after: String,
    /// Its length follows behind the error.
    text: bool,
}

impl Shim<'_> {
    /// The function with the name that Fortran compilers give the procedure.
    pub fn plain(&self) -> Result<String> {
        let passed = self.passed()?;
        let name = &self.function.name;
        let mut text = format!("/// {}\n", binding(self.procedure));
        _ = writeln!(
            text,
            "#[unsafe(no_mangle)]\nextern \"C\" fn pmpi_{}_({}) {{",
            self.procedure.stem(),
            parameters(&self.procedure.arguments, &passed)
        );
        let values: Vec<&str> = passed.iter().map(|one| one.value.as_str()).collect();
        let (first, last) = of_requests(name);
        text += first;
        passed.iter().for_each(|one| text += &one.before);
        let call = format!("P{name}({})", values.join(", "));
        match passed.iter().all(|one| one.after.is_empty()) && last.is_empty() {
            true => _ = writeln!(text, "    ierror.set({call});"),
            false => {
                _ = writeln!(text, "    let result = {call};");
                passed.iter().for_each(|one| text += &one.after);
                text += last;
                text += "    ierror.set(result);\n";
            }
        }
        text += "}\n\n";
        Ok(text)
    }

    /// The parameters of the C function.
    pub fn declaration(&self) -> String {
        let Ok(passed) = self.passed() else { return String::new() };
        let all = self.procedure.arguments.iter().zip(&passed);
        all.map(|(argument, one)| format!("{}: {}", ident(&argument.name), one.c)).collect::<Vec<_>>().join(", ")
    }

    fn passed(&self) -> Result<Vec<Passed>> {
        let all = self.procedure.arguments.iter().zip(&self.function.params);
        all.map(|(argument, parameter)| self.one(argument, parameter)).collect()
    }

    fn one(&self, argument: &Argument, parameter: &Parameter) -> Result<Passed> {
        let n = &ident(&argument.name);
        let is_const = parameter.c_type.starts_with("const");
        let is_pointer = parameter.c_type.contains('*');
        let mut passed = Passed {
            rust: String::new(),
            c: "usize".to_owned(),
            value: format!("{n}.address()"),
            before: String::new(),
            after: String::new(),
            text: false,
        };
        match (&argument.class, argument.shape) {
            (Class::Buffer, _) => passed.rust = "Buffer".to_owned(),
            (Class::Status, Rank::Scalar) => passed.rust = "Status".to_owned(),
            (Class::Status, _) => passed.rust = "Statuses".to_owned(),
            (Class::Procedure(_), _) => passed.rust = "Procedure".to_owned(),
            (Class::Pointer, _) => {
                (passed.rust, passed.c, passed.value) = ("*mut usize".to_owned(), "*mut usize".to_owned(), n.clone());
            }
            (Class::Integer, _) if parameter.kind == "WEIGHT" => passed.rust = "Weights".to_owned(),
            (Class::Text, _) => self.text(&mut passed, parameter, n)?,
            (Class::Handle(_), _) if !is_pointer => {
                (passed.rust, passed.value) = ("In<Int>".to_owned(), format!("{n}.handle()"));
            }
            (Class::Handle(of), Rank::Scalar) => {
                // A procedure that may end a request gives back what it used of sections.
                let ends = of == "Request" && argument.intent == Intent::InOut;
                passed.rust = if ends { "Request" } else { "Handle" }.to_owned();
                passed.c = "*mut usize".to_owned();
                passed.value = format!("&raw mut {n}_c");
                passed.before = format!("    let mut {n}_c = {n}.load();\n");
                passed.after = format!("    {n}.store({n}_c);\n");
            }
            (Class::Handle(_), _) => self.handles(&mut passed, parameter, n, is_const)?,
            (Class::Integer, _) if self.counts_from_one(n) => {
                passed.rust = "*mut Int".to_owned();
                passed.c = "*mut Int".to_owned();
                (passed.value, passed.after) = self.counted(n, &mut passed.before);
            }
            (class, _) => {
                let word = match class {
                    Class::Integer | Class::Logical => "Int",
                    _ => "i64",
                };
                (passed.rust, passed.c, passed.value) = match (is_pointer, is_const) {
                    (false, _) => (format!("In<{word}>"), word.to_owned(), format!("{n}.get()")),
                    (true, true) => (format!("*const {word}"), format!("*const {word}"), n.clone()),
                    (true, false) => (format!("*mut {word}"), format!("*mut {word}"), n.clone()),
                };
            }
        }
        Ok(passed)
    }

    fn text(&self, passed: &mut Passed, parameter: &Parameter, n: &str) -> Result<()> {
        passed.text = true;
        passed.rust = "Text".to_owned();
        if parameter.direction == "in" {
            let strips = self.supplement.strip_both_ends.contains(&parameter.name) && self.function.category == "info";
            let method = if strips { "stripped" } else { "trimmed" };
            passed.before =
                format!("    let Some({n}_c) = {n}.{method}({n}_len) else {{ return ierror.set(NO_MEM) }};\n");
            passed.value = format!("{n}_c.address()");
            return Ok(());
        }
        let length = match (parameter.length(), parameter.name.as_str()) {
            (Some(length), _) if length.starts_with("MPI_MAX_") => length["MPI_".len()..].to_owned(),
            (_, "datarep") => "MAX_DATAREP_STRING".to_owned(),
            (_, "key") => "MAX_INFO_KEY".to_owned(),
            _ => return Err(fail(format!("{}: how long is {n}? Write it by hand", self.function.name))),
        };
        passed.before = format!("    let mut {n}_c = [0u8; {length}];\n");
        passed.value = format!("{n}_c.as_mut_ptr() as usize");
        passed.after = format!("    {n}.fill({n}_len, &{n}_c, result);\n");
        Ok(())
    }

    fn handles(&self, passed: &mut Passed, parameter: &Parameter, n: &str, is_const: bool) -> Result<()> {
        let length = match (parameter.length(), self.supplement.lengths.get(&self.function.name.replace("_c", ""))) {
            (Some("*"), Some((send, receive))) => match n.starts_with("send") {
                true => format!("{send}(comm, sendbuf)"),
                false => format!("{receive}(comm, recvbuf)"),
            },
            (Some(length), _) if length != "*" => format!("{length}.length()"),
            _ => return Err(fail(format!("{}: how long is {n}? Write it into mpi_fortran.json", self.function.name))),
        };
        let requests = n == "array_of_requests";
        passed.rust = if requests && !is_const { "Requests" } else { "Handles" }.to_owned();
        passed.c = "*mut usize".to_owned();
        passed.before = format!("    let Some(mut {n}_c) = {n}.load({length}) else {{ return ierror.set(NO_MEM) }};\n");
        if self.function.name == "MPI_Startall" {
            passed.before.insert_str(0, &format!("    {n}.start({length});\n"));
        }
        passed.value = format!("{n}_c.pointer()");
        match (is_const, requests) {
            (false, _) => passed.after = format!("    {n}.store(&{n}_c);\n"),
            (true, true) => passed.after = format!("    look_at(&{n}_c);\n"),
            (true, false) => {}
        }
        Ok(())
    }

    fn counts_from_one(&self, n: &str) -> bool {
        let entry = self.supplement.one_based.get(&self.function.name);
        entry.is_some_and(|(index, count)| index == n || (count == n && !n.is_empty()))
    }

    /// An index, the number of indices, or the indices.
    fn counted(&self, n: &str, before: &mut String) -> (String, String) {
        let entry = self.supplement.one_based.get(&self.function.name);
        let (array, count) = entry.map_or(("", ""), |(array, count)| (array.as_str(), count.as_str()));
        if !count.is_empty() && n == array {
            return (n.to_owned(), format!("    from_one({n}, {count}_c);\n"));
        }
        *before = format!("    let mut {n}_c = UNWRITTEN;\n");
        let after = match n == count {
            true => format!("    store_count({n}, {n}_c);\n"),
            false => format!("    store_index({n}, {n}_c);\n"),
        };
        (format!("&raw mut {n}_c"), after)
    }
}

/// The Rust types of a procedure's arguments.
pub fn plain_types(procedure: &Procedure) -> Vec<String> {
    let Some(function) = procedure.function else { return Vec::new() };
    let supplement = Supplement::empty();
    let shim = Shim { procedure, function, supplement: &supplement };
    let all = procedure.arguments.iter().zip(&function.params);
    all.map(|(argument, parameter)| match shim.one(argument, parameter) {
        Ok(passed) => passed.rust,
        // Only the length is not known here.
        Err(_) => "Handles".to_owned(),
    })
    .collect()
}

/// As the standard writes it in capitals.
pub fn binding(procedure: &Procedure) -> String {
    let mut names: Vec<String> = procedure.arguments.iter().map(|argument| argument.name.clone()).collect();
    names.extend(procedure.fails.then(|| "ierror".to_owned()));
    format!("{}({})", procedure.name, names.join(", "))
}

/// As a program calls it: the large twin has the plain procedure's name.
pub fn called(procedure: &Procedure) -> String {
    let own = binding(procedure);
    match &procedure.generic {
        Some(generic) => own.replacen(&procedure.name, generic, 1),
        None => own,
    }
}

fn parameters(arguments: &[Argument], passed: &[Passed]) -> String {
    let all = arguments.iter().zip(passed);
    let mut list: Vec<String> =
        all.clone().map(|(argument, one)| format!("{}: {}", ident(&argument.name), one.rust)).collect();
    list.push("ierror: Ierror".to_owned());
    list.extend(all.filter(|(_, one)| one.text).map(|(argument, _)| format!("{}_len: usize", ident(&argument.name))));
    list.join(", ")
}

/// No word of Rust's.
pub fn ident(name: &str) -> String {
    match name {
        "type" | "in" | "ref" | "fn" => format!("{name}_"),
        other => other.to_lowercase(),
    }
}

/// What a procedure does with the sections of requests that it gets, before it calls C and after that.
fn of_requests(name: &str) -> (&'static str, &'static str) {
    match name {
        "MPI_Start" => ("    request.start();\n", ""),
        "MPI_Request_free" => ("    request.release();\n", ""),
        "MPI_Request_get_status" => ("", "    look(request);\n"),
        "MPI_Pready" => ("    crate::pending::ready(request.get(), (partition.get(), partition.get()));\n", ""),
        "MPI_Pready_range" => {
            ("    crate::pending::ready(request.get(), (partition_low.get(), partition_high.get()));\n", "")
        }
        "MPI_Pready_list" => ("    ready_list(request, length.length(), array_of_partitions);\n", ""),
        "MPI_Parrived" => ("", "    crate::pending::arrived(request.get(), partition.get(), flag);\n"),
        _ => ("", ""),
    }
}
