//! Cases that wait most of the time, for deadlines, logins and connections that are made again: a few at once, each with test hosts or
//! namespaces of its own.

use super::super::session::at_once;
use super::super::{Session, Verdict};
use super::rig::{OnHosts, Rig, rig};
use crate::cluster::hosts::{self, Cluster, Life, Manager};
use crate::failure::Result;
use crate::shell;
use crate::tree::Tree;
use std::path::PathBuf;

/// One of them.
pub struct WaitingCase {
    name: String,
    run: Box<dyn Fn(&Workplace) -> Verdict + Sync>,
}

/// What all of them share.
pub struct Workplace {
    /// The source tree under test.
    pub tree: Tree,
    /// Its programs; the logs are of nobody.
    pub rig: Rig,
    /// The folder for files that tests write.
    pub scratch: PathBuf,
}

impl WaitingCase {
    /// With its whole name.
    pub fn new(name: impl Into<String>, run: impl Fn(&Workplace) -> Verdict + Sync + 'static) -> WaitingCase {
        WaitingCase { name: name.into(), run: Box::new(run) }
    }

    /// `cluster/NAME`, which makes test hosts, and what it says of a run.
    pub fn with_hosts(name: String, run: impl Fn(&Workplace, &str) -> Result<String> + Sync + 'static) -> WaitingCase {
        WaitingCase::new(format!("cluster/{name}"), move |place| match hosts::lacks(&place.tree) {
            Some(why) => Verdict::Skipped(why),
            None => run(place, &name).map_or_else(Verdict::from, Verdict::Passed),
        })
    }

    /// `cluster/NAME`, on so many test hosts.
    pub fn on_hosts(name: &str, hosts: u32, case: OnHosts) -> WaitingCase {
        WaitingCase::with_hosts(name.to_owned(), move |place, name| {
            place.on_hosts(name, hosts, case).map(|()| String::new())
        })
    }
}

impl Workplace {
    /// For a case of this name: its logs, and where its hosts lie.
    pub fn own(&self, name: &str) -> Result<(Rig, PathBuf)> {
        let folder = self.scratch.join("cluster").join(name);
        shell::folder(&folder)?;
        Ok((Rig { log: folder.join("job.log"), ..self.rig.clone() }, folder.join("hosts")))
    }

    /// Runs a case on so many hosts of its own, which are gone afterwards.
    pub fn on_hosts(&self, name: &str, hosts: u32, case: impl Fn(&Rig, &Cluster) -> Result<()>) -> Result<()> {
        let (rig, folder) = self.own(name)?;
        let cluster = Cluster::up(&self.tree, &folder, hosts, Manager::None, Life::OfThisThread)?;
        let result = case(&rig, &cluster);
        cluster.down()?;
        result
    }
}

/// Runs those of them that are wanted.
pub fn cases(session: &mut Session, all: Vec<WaitingCase>) -> Result<()> {
    let wanted: Vec<WaitingCase> = all.into_iter().filter(|case| session.wants(&case.name)).collect();
    if session.options.list {
        wanted.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let place = Workplace { rig: rig(session)?, tree: session.tree.clone(), scratch: session.scratch() };
    session.report.begins("cluster: cases that wait");
    at_once::each(
        &wanted,
        AT_ONCE,
        |case| (case.run)(&place),
        |case, time, verdict| {
            session.report.result(&case.name, time, verdict);
            Ok(())
        },
    )
}

/// Two cores are enough for so many.
const AT_ONCE: usize = 4;
