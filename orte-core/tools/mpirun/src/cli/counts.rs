//! How many ranks a job has, and how many it may have.

use super::app::App;
use super::map::Map;
use super::options::Options;
use super::{hosts, values};
use crate::binding::Place;
use crate::rankfile;
use crate::refusal::Refusal;
use crate::topology::Topology;
use orte_core::segment::layout::RANKS_MAX;

/// How many ranks there may be.
pub struct Counts {
    /// If nothing is said.
    pub default: u32,
    /// On this machine, and so in the job; with the option that says so.
    pub most: Option<(u32, String)>,
    /// Slots that hosts name or a resource manager gave, or usable processors.
    pub slots: u32,
    /// Places of a `--rankfile`.
    pub rankfile: Option<Vec<Place>>,
}

impl Counts {
    /// Reads the options.
    pub fn new(whole: &Options, map: &Map, topology: &Topology) -> Result<Counts, Refusal> {
        let mut files = whole.hostfile.clone();
        if whole.host.is_empty() && files.is_empty() {
            files.extend(whole.default_hostfile.clone());
        }
        let named = match hosts::slots(&whole.host, &files)? {
            None => hosts::allocated(&hosts::Own)?,
            named => named,
        };
        let slots = named.unwrap_or(topology.usable.len() as u32);
        let rankfile = map.rankfile.as_deref().map(|path| rankfile::read(path, topology)).transpose()?;
        let mut most = None;
        if let Some(text) = &whole.npernode {
            most = Some((values::ranks(text)?, "-npernode".to_owned()));
        } else if let Some(per_unit) = map.per_unit {
            let units = topology.groups(map.unit)?.len() as u32;
            most = Some((per_unit.saturating_mul(units), "N of ppr:N".to_owned()));
        } else if let Some(places) = &rankfile {
            most = Some((places.len() as u32, "the number of lines in --rankfile".to_owned()));
        }
        let limited = (map.oversubscribe == Some(false)).then(|| (slots, "the slots (--host localhost:N)".to_owned()));
        let default = most.as_ref().map_or(slots, |(most, _)| *most);
        Ok(Counts { default, most: most.or(limited), slots, rankfile })
    }

    /// The ranks of all programs, unless these are too many.
    pub fn check(&self, apps: &[App]) -> Result<u32, Refusal> {
        let total: u64 = apps.iter().map(|app| u64::from(app.ranks)).sum();
        if total > u64::from(RANKS_MAX) {
            return Err(Refusal::usage(format!(
                "the programs have {total} ranks together; a job has at most {RANKS_MAX}"
            )));
        }
        match &self.most {
            Some((most, option)) if total > u64::from(*most) => Err(Refusal::usage(format!(
                "{total} ranks with at most {most} on each machine need several machines, where mpirun does not start ranks \
                 yet; raise {option} or leave it out"
            ))),
            _ => Ok(total as u32),
        }
    }
}
