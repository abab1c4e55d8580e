//! `tests/bad_input/arguments.txt`: right and wrong values for each kind of parameter.

use crate::api::data::{Function, Parameter};
use crate::failure::{Result, fail};
use std::collections::BTreeMap;

/// What stands below one head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The right value in C; `[…]` and `{…}` as the file says.
    pub good: Option<String>,
    /// Wrong values with their error class.
    pub bad: Vec<(String, String)>,
    /// What is not wrong here.
    pub allowed: Vec<String>,
    /// C before the call.
    pub before: Vec<String>,
    /// C after a call that succeeded.
    pub after: Vec<String>,
    /// Whether the function may be called before MPI_Init and after MPI_Finalize.
    pub any_time: bool,
    /// The class that a call with right arguments gives, if not success.
    pub gives: Option<String>,
    /// For the fuzzer: may wait for another process, so that it gets MPI_PROC_NULL and completed requests only.
    pub waits: bool,
    /// For the fuzzer: with one rank only.
    pub alone: bool,
    /// Why the function is not called.
    pub never: Option<String>,
}

/// The whole file.
#[derive(Debug, Default)]
pub struct ArgumentTable(BTreeMap<String, Entry>);

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number, a handle, a function, a text, a buffer.
    Value,
    /// Elements that are read.
    Array,
    /// Elements that are read and written.
    Place,
    /// Elements that are written.
    Out,
}

impl Shape {
    /// The shape that the C type and the direction give.
    pub fn of(parameter: &Parameter) -> Shape {
        let c_type = parameter.c_type.as_str();
        let Some(pointee) = c_type.strip_suffix('*').map(str::trim) else {
            return if c_type.contains('*') { Shape::Place } else { Shape::Value };
        };
        let out = parameter.direction == "out";
        let text = pointee.ends_with("char") || pointee.ends_with('*');
        match pointee {
            "void" | "const void" => Shape::Value,
            _ if pointee.contains("_function") || (text && !out) => Shape::Value,
            _ if pointee.starts_with("const ") => Shape::Array,
            _ if out => Shape::Out,
            _ => Shape::Place,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Shape::Value => "value",
            Shape::Array => "array",
            Shape::Place => "place",
            Shape::Out => "out",
        }
    }
}

impl ArgumentTable {
    /// Reads the file's text.
    pub fn read(text: &str) -> Result<ArgumentTable> {
        let mut table = ArgumentTable::default();
        let mut head = String::new();
        for (number, line) in text.lines().enumerate() {
            let content = line.split_once("  # ").map_or(line, |(content, _comment)| content).trim_end();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            if !content.starts_with(' ') {
                head = content.to_owned();
                table.0.entry(head.clone()).or_default();
                continue;
            }
            let entry = table.0.entry(head.clone()).or_default();
            add(entry, content.trim()).map_err(|why| fail(format!("arguments.txt:{}: {why}", number + 1)))?;
        }
        Ok(table)
    }

    /// What holds for a parameter: its kind, then its name, then this very one.
    pub fn parameter(&self, function: &Function, parameter: &Parameter) -> Option<Entry> {
        let shape = Shape::of(parameter).word();
        let own = format!("{} {shape}", parameter.kind);
        let kind = match self.0.contains_key(&own) {
            false if shape == "out" => "OUT out".to_owned(),
            _ => own,
        };
        let name = &parameter.name;
        let by_name = format!("*.{name}");
        let heads = [kind, by_name, format!("{}.{name}", small(function)), format!("{}.{name}", function.name)];
        let mut all = heads.iter().enumerate().filter(|(at, head)| *at < 3 || heads[2] != **head);
        let mut found = None;
        all.by_ref().filter_map(|(_, head)| self.0.get(head)).for_each(|entry| {
            found.get_or_insert_with(Entry::default).add(entry);
        });
        if let Some(entry) = found.as_mut().filter(|_| function.name.starts_with("MPI_T_")) {
            entry.use_tool_classes();
        }
        found
    }

    /// What holds for a function as a whole.
    pub fn function(&self, function: &Function) -> Entry {
        let mut found = Entry::default();
        let heads = [small(function), function.name.as_str()];
        heads.iter().take(if heads[0] == heads[1] { 1 } else { 2 }).for_each(|head| {
            self.0.get(*head).into_iter().for_each(|entry| found.add(entry));
        });
        found
    }

    /// Heads that name no parameter and no function of the data: a slip of the pen would hide a test.
    pub fn strangers(&self, functions: &[Function]) -> Vec<String> {
        let known = |head: &&String| {
            let (first, parameter) = head.split_once(['.', ' ']).unwrap_or((head, ""));
            first == "OUT"
                || functions.iter().any(|function| match first.starts_with("MPI_") {
                    true => function.name == first && (parameter.is_empty() || has(function, parameter)),
                    false if first == "*" => has(function, parameter),
                    false => function.params.iter().any(|own| own.kind == first && Shape::of(own).word() == parameter),
                })
        };
        self.0.keys().filter(|head| !known(head)).cloned().collect()
    }
}

impl Entry {
    /// What is wrong for any function is MPI_T_ERR_INVALID for those of MPI_T: MPI 5.0 section 15.3.10.
    fn use_tool_classes(&mut self) {
        for (class, _) in &mut self.bad {
            if class.starts_with("MPI_ERR_") {
                *class = "MPI_T_ERR_INVALID".to_owned();
            }
        }
    }

    /// A later head adds to an earlier one, and wins where both speak of the same.
    fn add(&mut self, later: &Entry) {
        if later.good.is_some() {
            self.good.clone_from(&later.good);
        }
        for (class, expression) in &later.bad {
            self.bad.retain(|(_, earlier)| earlier != expression);
            self.bad.push((class.clone(), expression.clone()));
        }
        self.bad.retain(|(_, expression)| !later.allowed.contains(expression));
        self.before.extend_from_slice(&later.before);
        self.after.extend_from_slice(&later.after);
        self.any_time |= later.any_time;
        self.waits |= later.waits;
        self.alone |= later.alone;
        if later.gives.is_some() {
            self.gives.clone_from(&later.gives);
        }
        if later.never.is_some() {
            self.never.clone_from(&later.never);
        }
    }
}

fn add(entry: &mut Entry, line: &str) -> std::result::Result<(), String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "=" => entry.good = Some(rest.to_owned()),
        "-" => entry.allowed.push(rest.to_owned()),
        "!" => {
            let (class, expression) = rest.split_once(' ').ok_or("write a class and an expression after !")?;
            entry.bad.push((class.to_owned(), expression.trim().to_owned()));
        }
        "before" => entry.before.push(rest.to_owned()),
        "after" => entry.after.push(rest.to_owned()),
        "any" if rest == "time" => entry.any_time = true,
        "gives" => entry.gives = Some(rest.to_owned()),
        "may" if rest == "wait" => entry.waits = true,
        "alone" => entry.alone = true,
        "never" => entry.never = Some(rest.to_owned()),
        _ => {
            return Err(format!(
                "`{line}` must begin with = ! - before, after, alone, any time, gives, may wait or never"
            ));
        }
    }
    Ok(())
}

fn has(function: &Function, parameter: &str) -> bool {
    function.params.iter().any(|own| own.name == parameter)
}

/// The name without the `_c` of a large twin.
fn small(function: &Function) -> &str {
    match function.large_count_of {
        Some(_) => function.name.strip_suffix("_c").unwrap_or(&function.name),
        None => &function.name,
    }
}
