//! `--coll`: which component serves which collective function, by which algorithms, and what a call would get.

use crate::command_line::Arguments;
use crate::failure::Failure;
use ompi_core::framework::coll::{About, Case, FRAMEWORK, Function, OMPI_COLLS};
use opal_core::mca::name::Selection;
use opal_core::mca::open_mpi;
use serde_json::{Value as Json, json};
use std::io::Write;

/// Writes the table of all functions for communicators of `--size` ranks and `--bytes` bytes.
pub fn show(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let case = Case { ranks: arguments.size.unwrap_or(8), bytes: arguments.bytes.unwrap_or(8) };
    let have: Vec<&str> = OMPI_COLLS.iter().map(|component| component.info().name).collect();
    let list = open_mpi::known(Selection::parse(FRAMEWORK.selection.text()), FRAMEWORK.name, &have);
    for component in OMPI_COLLS.iter().filter(|component| list.wants(component.info().name)) {
        component.configure().map_err(|_| Failure::Refused("see above".to_owned()))?;
    }
    let functions: Vec<Row> = Function::ALL.into_iter().map(|function| Row::new(function, case, &list)).collect();
    if arguments.json {
        let all: Vec<Json> = functions.iter().map(Row::json).collect();
        writeln!(out, "{:#}", json!({ "size": case.ranks, "bytes": case.bytes, "functions": all }))?;
        return Ok(());
    }
    let Case { ranks, bytes } = case;
    writeln!(
        out,
        "Collectives on an intracommunicator of {ranks} processes of one node, {bytes} bytes (--size, --bytes)."
    )?;
    writeln!(out, "Of the components that serve a function the one with the highest priority is asked first,")?;
    writeln!(out, "but before it one whose algorithm a parameter or a decision file names.")?;
    writeln!(out, "Intercommunicators are served by coll/inter, which asks these for what a group does for itself.")?;
    functions.iter().try_for_each(|row| row.write(out))
}

/// A function and the components that serve it, the first one first.
struct Row {
    function: Function,
    offers: Vec<(&'static str, About)>,
}

impl Row {
    fn new(function: Function, case: Case, list: &Selection<'_>) -> Row {
        let bytes = if function == Function::Barrier { 0 } else { case.bytes };
        let case = Case { bytes, ..case };
        let wanted = OMPI_COLLS.iter().filter(|component| list.wants(component.info().name));
        let mut offers: Vec<(&'static str, About)> =
            wanted.filter_map(|component| Some((component.info().name, component.about(function, case)?))).collect();
        // As the table of a communicator is filled.
        offers.sort_by(|(name, a), (other, b)| b.priority.cmp(&a.priority).then(name.cmp(other)));
        Row { function, offers }
    }

    /// Place of the one that would serve the call: the first that does, of those first whose algorithm the user has named.
    fn chosen(&self) -> Option<usize> {
        let forced = self.offers.iter().position(|(_, about)| about.forced && about.choice.is_ok());
        forced.or_else(|| self.offers.iter().position(|(_, about)| about.choice.is_ok()))
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "\n{}", self.function.name())?;
        if self.offers.is_empty() {
            writeln!(out, "    no component of this library serves it")?;
        }
        for (place, (name, about)) in self.offers.iter().enumerate() {
            let mark = if self.chosen() == Some(place) { "*" } else { " " };
            let algorithms = about.algorithms.join(", ");
            writeln!(out, "  {mark} {name:<8} priority {:>3}  {algorithms}", about.priority)?;
            match about.choice {
                Ok((algorithm, why)) => writeln!(out, "      {algorithm}, {why} (bytes {})", about.counts)?,
                Err(why) => writeln!(out, "      not for this call: {why}")?,
            }
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let offer = |(name, about): &(&'static str, About)| {
            json!({
                "component": name,
                "priority": about.priority,
                "algorithms": about.algorithms,
                "bytes": about.counts,
                "algorithm": about.choice.ok().map(|(algorithm, _)| algorithm),
                "why": match about.choice { Ok((_, why)) => why, Err(why) => why },
            })
        };
        let offers: Vec<Json> = self.offers.iter().map(offer).collect();
        let chosen = self.chosen().map(|place| self.offers[place].0);
        json!({ "function": self.function.name(), "chosen": chosen, "components": offers })
    }
}
