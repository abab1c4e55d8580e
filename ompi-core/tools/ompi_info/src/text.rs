//! For people.

use crate::about;
use crate::facts::{ABI, Facts, Row, STANDARD, VERSION};
use crate::failure::Failure;
use crate::filter::Filter;
use opal_core::framework::btl::OMPI_BTLS;
use opal_core::mca::{Info, Source, Value};
use std::io::Write;

/// Writes what was asked for.
pub fn show(facts: &Facts, filter: &Filter, out: &mut dyn Write) -> Result<(), Failure> {
    if filter.version_only {
        writeln!(out, "{VERSION}, MPI {STANDARD}, standard ABI {ABI}")?;
        return Ok(());
    }
    if filter.components {
        about::show(&about::all(crate::config::read().ok().as_ref()), false, out)?;
        components(facts, filter, out)?;
    }
    if filter.params.is_some() {
        params(facts, filter, out)?;
    }
    Ok(())
}

fn components(facts: &Facts, filter: &Filter, out: &mut dyn Write) -> Result<(), Failure> {
    for family in &facts.frameworks {
        let (framework, policy) = (family.framework, family.policy());
        writeln!(out, "\n{:>24}: {} ({}, {policy})", framework.name, framework.doc.trim(), family.layer())?;
        for info in family.components.iter().filter(|info| filter.shows(family, info.name)) {
            let name = format!("MCA {}", framework.name);
            writeln!(out, "{name:>24}: {:<12} (Component v{}) {}", info.name, info.version, info.doc.trim())?;
            for line in devices(info) {
                writeln!(out, "{:>38} {line}", "")?;
            }
        }
        if family.components.is_empty() && framework.policy != opal_core::mca::Policy::Parameters {
            writeln!(out, "{:>26}no component in this library", "")?;
        }
    }
    Ok(())
}

/// What a transport finds on this machine.
fn devices(info: &'static Info) -> Vec<String> {
    let transport = OMPI_BTLS.iter().find(|transport| core::ptr::eq(transport.info(), info));
    transport.map(|transport| transport.devices()).unwrap_or_default()
}

fn params(facts: &Facts, filter: &Filter, out: &mut dyn Write) -> Result<(), Failure> {
    let mut of = None;
    for row in filter.rows(facts) {
        let this = (row.framework, row.component);
        if of != Some(this) {
            let (slash, own) = if row.component.is_empty() { ("", " itself") } else { ("/", "") };
            writeln!(out, "\nParameters of {}{slash}{}{own}:", row.framework, row.component)?;
            of = Some(this);
        }
        param(row, out)?;
    }
    let higher = facts.params.iter().filter(|row| filter.covers(row) && row.param.level > filter.level).count();
    if higher > 0 {
        writeln!(out, "\n{higher} more at higher levels: --level 9 shows them.")?;
    }
    Ok(())
}

fn param(row: &Row, out: &mut dyn Write) -> Result<(), Failure> {
    let param = row.param;
    let unit = if param.unit.is_empty() { String::new() } else { format!(" {}", param.unit) };
    writeln!(out, "  {} = {}{unit}  ({})", row.name, quoted(param.value()), param.source())?;
    let choices = match row.choices() {
        [] => String::new(),
        words => format!(" of {}", words.join(", ")),
    };
    let default = match param.source() {
        Source::Default => String::new(),
        _ => format!(", default {}", quoted(param.default)),
    };
    writeln!(out, "      {}{choices}{default}, level {}", row.kind(), param.level)?;
    wrapped(&row.help(), out)
}

fn quoted(value: Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

fn wrapped(text: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            writeln!(out, "      {line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "      {line}")?;
    Ok(())
}

const WIDTH: usize = 92;
