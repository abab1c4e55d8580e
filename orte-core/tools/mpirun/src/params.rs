//! The names of all parameters of the library that was built with this mpirun, so that a mistyped one is found before
//! anything starts.

use crate::Refusal;
use opal_core::mca::name;
use serde_json::Value;
use std::path::PathBuf;

/// Refuses names that the table beside mpirun does not hold; without a table the ranks check them.
pub fn check(mca: &[(String, String)]) -> Result<(), Refusal> {
    if mca.is_empty() {
        return Ok(());
    }
    for (name, _) in mca {
        if name.is_empty() || name.contains([',', '=']) {
            return Err(Refusal::usage(format!("--mca {name}: that is no parameter's name; ompi_info lists them")));
        }
    }
    let Some(path) = table() else { return Ok(()) };
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let Some(known) = names(&text) else {
        crate::say(&format!(
            "{} is damaged, so names after --mca are not checked here; build it again",
            path.display()
        ));
        return Ok(());
    };
    mca.iter().try_for_each(|(name, _)| look_up(name, &known))
}

fn look_up(typed: &str, known: &[String]) -> Result<(), Refusal> {
    // Open MPI's older name of btl/sm.
    let canonical = typed.strip_prefix("btl_vader_").map(|rest| format!("btl_sm_{rest}"));
    let canonical = canonical.as_deref().unwrap_or(typed);
    if known.iter().any(|name| name == canonical) {
        return Ok(());
    }
    let near = name::nearest(canonical, known.iter().map(String::as_str));
    let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(Refusal::usage(format!("--mca {typed}: there is no such parameter{hint} (ompi_info lists all)")))
}

/// `../share/ompi-rs/params.json` from the directory of this program.
fn table() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("share/ompi-rs/params.json"))
}

fn names(text: &str) -> Option<Vec<String>> {
    let table: Value = serde_json::from_str(text).ok()?;
    table.as_array()?.iter().map(|row| Some(row.get("name")?.as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_names() {
        let known = names(r#"[{"name": "btl"}, {"name": "btl_sm_eager_limit", "default": 4096}]"#).unwrap();
        assert!(look_up("btl", &known).is_ok());
        assert!(look_up("btl_vader_eager_limit", &known).is_ok());
        let refusal = look_up("btl_sm_eager_limt", &known).unwrap_err();
        assert!(refusal.sentence.contains("did you mean btl_sm_eager_limit?"), "{refusal:?}");
        for damaged in ["", "{}", "[{}]", r#"[{"name": 3}]"#, "[1]"] {
            assert!(names(damaged).is_none(), "{damaged}");
        }
    }
}
