//! One `key:value` line per fact, as scripts made for Open MPI read them.

use crate::about;
use crate::escaped::escaped;
use crate::facts::{ABI, Facts, Row, STANDARD, VERSION};
use crate::failure::Failure;
use crate::filter::Filter;
use std::io::Write;

/// Writes what was asked for.
pub fn show(facts: &Facts, filter: &Filter, out: &mut dyn Write) -> Result<(), Failure> {
    if filter.version_only || !filter.components {
        writeln!(out, "package:{VERSION}")?;
        writeln!(out, "ompi:version:full:{}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "mpi-api:version:full:{STANDARD}")?;
        writeln!(out, "mpi-abi:version:full:{ABI}")?;
    }
    if filter.version_only {
        return Ok(());
    }
    if filter.components {
        about::show(&about::all(crate::config::read().ok().as_ref()), true, out)?;
        for family in &facts.frameworks {
            for info in family.components.iter().filter(|info| filter.shows(family, info.name)) {
                let of = format!("mca:{}:{}", family.framework.name, info.name);
                writeln!(out, "{of}:version:mca:{}.0.0", info.framework_version)?;
                writeln!(out, "{of}:version:component:{}", info.version)?;
                writeln!(out, "{of}:help:{}", escaped(info.doc.trim()))?;
            }
        }
    }
    filter.rows(facts).try_for_each(|row| param(row, out))?;
    match filter.components || filter.covers_framework("mpi") {
        true => about::built_with(out),
        false => Ok(()),
    }
}

fn param(row: &Row, out: &mut dyn Write) -> Result<(), Failure> {
    let component = if row.component.is_empty() { "base" } else { row.component };
    let of = format!("mca:{}:{component}:param:{}", row.framework, row.name);
    writeln!(out, "{of}:value:{}", escaped(&row.param.value().to_string()))?;
    writeln!(out, "{of}:default:{}", escaped(&row.param.default.to_string()))?;
    writeln!(out, "{of}:source:{}", escaped(&row.param.source().to_string()))?;
    writeln!(out, "{of}:type:{}", row.kind())?;
    for word in row.choices() {
        writeln!(out, "{of}:enumerator:value:{word}")?;
    }
    if !row.param.unit.is_empty() {
        writeln!(out, "{of}:unit:{}", row.param.unit)?;
    }
    writeln!(out, "{of}:level:{}", row.param.level)?;
    writeln!(out, "{of}:help:{}", escaped(&row.help()))?;
    Ok(())
}
