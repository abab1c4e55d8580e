//! Checks names and values of parameters against the table (share/ompi-rs/params.json) of the library that was built
//! with this mpirun, so that a mistyped one is found before anything starts.

use crate::refusal::Refusal;
use opal_core::mca::name::{self, Selection};
use opal_core::mca::{Kind, open_mpi};
use serde_json::Value;
use std::path::PathBuf;

/// Refuses names that the table beside mpirun does not hold; without a table the ranks check them.
pub fn check(mca: &[(String, String)]) -> Result<(), Refusal> {
    for (name, _) in mca {
        if name.is_empty() || name.contains([',', '=']) {
            return Err(Refusal::usage(format!("--mca {name}: that is no parameter's name; ompi_info lists them")));
        }
    }
    let in_environment = std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with(PREFIX));
    if mca.is_empty() && !in_environment {
        return Ok(());
    }
    let Some(path) = table() else { return Ok(()) };
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let Some(known) = rows(&text) else {
        crate::refusal::say(&format!(
            "{} is damaged, so names after --mca are not checked here; build it again",
            path.display()
        ));
        return Ok(());
    };
    mca.iter().try_for_each(|(name, value)| {
        let row = match look_up(name, &known) {
            // Rank 0 says that it is ignored.
            Err(_) if open_mpi::is_parameter(name) => return Ok(()),
            row => row?,
        };
        wrong(row, value).map_or(Ok(()), |why| Err(Refusal::usage(format!("--mca {name} {value}: {why}"))))
    })?;
    environment(&known)
}

/// Values of known parameters in our own environment, which every rank would refuse.
fn environment(known: &[Row]) -> Result<(), Refusal> {
    let ours = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.to_str()?.strip_prefix(PREFIX)?.to_owned(), value.into_string().ok()?)));
    for (name, value) in ours {
        if let Some(why) = look_up(&name, known).ok().and_then(|row| wrong(row, &value)) {
            return Err(Refusal::usage(format!("{PREFIX}{name}={value} in the environment: {why}")));
        }
    }
    Ok(())
}

/// What is wrong with a value.
fn wrong(row: &Row, value: &str) -> Option<String> {
    let kind = match row.kind.as_str() {
        "int" => Kind::Int,
        "size" => Kind::Size,
        "bool" => Kind::Bool,
        _ => Kind::Text,
    };
    if let Err(wanted) = kind.check(value) {
        return Some(wanted);
    }
    if !row.choices.is_empty() && row.choices.iter().all(|choice| choice != value.trim()) {
        return Some(format!("one of {} is wanted", row.choices.join(", ")));
    }
    let have: Vec<&str> = row.components.as_ref()?.iter().map(String::as_str).collect();
    let list = open_mpi::known(Selection::parse(value), &row.name, &have);
    name::unknown_name(&row.name, &list, have, "ompi_info lists all")
}

fn look_up<'a>(typed: &str, known: &'a [Row]) -> Result<&'a Row, Refusal> {
    // Open MPI's older name of btl/sm.
    let canonical = typed.strip_prefix("btl_vader_").map(|rest| format!("btl_sm_{rest}"));
    let canonical = canonical.as_deref().unwrap_or(typed);
    if let Some(row) = known.iter().find(|row| row.name == canonical) {
        return Ok(row);
    }
    let near = name::nearest(canonical, known.iter().map(|row| row.name.as_str()));
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(Refusal::usage(format!("--mca {typed}: there is no such parameter{hint} (ompi_info lists all)")))
}

/// `../share/ompi-rs/params.json` from the directory of this program.
fn table() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("share/ompi-rs/params.json"))
}

/// A parameter of the table.
#[derive(Debug, Default)]
struct Row {
    name: String,
    kind: String,
    choices: Vec<String>,
    /// What a selection list may name.
    components: Option<Vec<String>>,
}

fn rows(text: &str) -> Option<Vec<Row>> {
    let table: Value = serde_json::from_str(text).ok()?;
    let text = |row: &Value, key| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |row: &Value, key| -> Option<Vec<String>> {
        row.get(key)?.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    let rows = table.as_array()?.iter().map(|row| {
        Some(Row {
            name: text(row, "name")?,
            kind: text(row, "type").unwrap_or_default(),
            choices: list(row, "choices").unwrap_or_default(),
            components: list(row, "components"),
        })
    });
    rows.collect()
}

const PREFIX: &str = opal_core::mca::source::PREFIX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_names() {
        let known = rows(
            r#"[{"name": "btl", "type": "string", "components": ["sm", "self"]},
                {"name": "btl_sm_eager_limit", "type": "size", "default": 4096}]"#,
        )
        .unwrap();
        assert!(look_up("btl", &known).is_ok());
        assert!(look_up("btl_vader_eager_limit", &known).is_ok());
        let refusal = look_up("btl_sm_eager_limt", &known).unwrap_err();
        assert!(refusal.sentence.contains("did you mean btl_sm_eager_limit?"), "{refusal:?}");
        let value = |name, value| wrong(look_up(name, &known).unwrap(), value);
        assert_eq!((value("btl", "sm,self"), value("btl", "^tcp"), value("btl", "vader")), (None, None, None));
        assert!(value("btl", "self,smm").unwrap().contains("no component smm (ompi_info lists all); did you mean sm?"));
        assert_eq!(value("btl_sm_eager_limit", "8k"), None);
        assert!(value("btl_sm_eager_limit", "much").unwrap().contains("a non-negative number is wanted"));
        for damaged in ["", "{}", "[{}]", r#"[{"name": 3}]"#, "[1]"] {
            assert!(rows(damaged).is_none(), "{damaged}");
        }
    }
}
