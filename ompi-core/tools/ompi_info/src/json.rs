//! For programs. The key names are an interface: mpirun reads [`table`].

use crate::facts::{ABI, Facts, Family, Row, STANDARD, VERSION};
use crate::failure::Failure;
use crate::filter::Filter;
use opal_core::mca::{Policy, Value};
use serde_json::{Value as Json, json};
use std::io::Write;

/// Writes one object with what was asked for.
pub fn show(facts: &Facts, filter: &Filter, out: &mut dyn Write) -> Result<(), Failure> {
    let mut whole = json!({ "version": VERSION, "mpi": STANDARD, "abi": ABI });
    if filter.components && !filter.version_only {
        whole["frameworks"] = facts.frameworks.iter().map(|family| framework(family, filter)).collect();
    }
    if filter.params.is_some() && !filter.version_only {
        whole["parameters"] = filter.rows(facts).map(with_value).collect();
    }
    writeln!(out, "{whole:#}")?;
    Ok(())
}

/// Writes the array of all parameters without values: what mpirun checks `--mca` against.
pub fn table(facts: &Facts, out: &mut dyn Write) -> Result<(), Failure> {
    let all: Json = facts.params.iter().map(|this| with_components(this, facts)).collect();
    writeln!(out, "{all:#}")?;
    Ok(())
}

/// What a selection list may name.
fn with_components(this: &Row, facts: &Facts) -> Json {
    let mut object = row(this);
    let family = facts.frameworks.iter().find(|family| family.framework.name == this.name);
    // One without components has a parameter of its own of this name, or none.
    if let Some(family) = family.filter(|family| family.framework.policy != Policy::Parameters) {
        object["components"] = family.components.iter().map(|info| json!(info.name)).collect();
    }
    object
}

fn framework(family: &Family, filter: &Filter) -> Json {
    let shown = family.components.iter().filter(|info| filter.shows(family, info.name));
    let components = shown.map(|info| {
        json!({
            "name": info.name,
            "version": info.version,
            "framework_version": info.framework_version,
            "help": info.doc.trim(),
        })
    });
    json!({
        "name": family.framework.name,
        "layer": family.layer(),
        "version": family.framework.version,
        "policy": family.policy(),
        "help": family.framework.doc.trim(),
        "components": components.collect::<Json>(),
    })
}

fn row(row: &Row) -> Json {
    let mut object = json!({
        "name": row.name,
        "framework": row.framework,
        "component": row.component,
        "type": row.kind(),
        "default": value(row.param.default),
        "unit": row.param.unit,
        "level": row.param.level,
        "help": row.help(),
    });
    if !row.choices().is_empty() {
        object["choices"] = json!(row.choices());
    }
    object
}

fn with_value(this: &Row) -> Json {
    let mut object = row(this);
    object["value"] = value(this.param.value());
    object["source"] = json!(this.param.source().to_string());
    object
}

fn value(value: Value) -> Json {
    match value {
        Value::Int(number) => json!(number),
        Value::Bool(flag) => json!(flag),
        Value::Text(text) => json!(text),
    }
}
