//! Paths to processes.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::addresses;
use ompi_core::framework::bml::{Module, Path};
use ompi_core::process::Process;
use opal_core::framework::btl::{self, Peer, RemoteCaps};
use opal_core::mca::select::{self, Decision, Verdict};
use opal_core::sort;
use opal_core::sparse::Table;
use opal_core::sync::{ConditionalLock, Once};
use opal_core::{Error, Result, message, progress, verbose};

/// A running transport and its component's name.
pub struct Transport {
    pub name: &'static str,
    pub module: &'static dyn btl::Module,
    polled: Once<()>,
}

impl Transport {
    /// Not polled yet.
    pub fn new(name: &'static str, module: &'static dyn btl::Module) -> Transport {
        Transport { name, module, polled: Once::new() }
    }

    /// Has progress poll it from now on.
    pub fn poll(&self) -> Result<()> {
        let mut added = Ok(());
        self.polled.call_once(|| added = progress::add_transport(self.module));
        added
    }
}

/// The one module.
pub struct R2 {
    transports: Vec<Transport>,
    modules: &'static [&'static dyn btl::Module],
    // By index of the process, of those that were added.
    found: ConditionalLock<Table<Arc<[Path]>>>,
    // By index of the process: paths to memory that were made before messages took them, or that messages do not take.
    to_memory: ConditionalLock<Table<Path>>,
    // Held while transports are told of processes.
    adding: ConditionalLock<()>,
}

impl R2 {
    /// Over these transports.
    pub fn new(transports: Vec<Transport>) -> R2 {
        let modules: Vec<_> = transports.iter().map(|transport| transport.module).collect();
        R2 {
            transports,
            modules: Box::leak(modules.into_boxed_slice()),
            found: ConditionalLock::new(Table::new()),
            to_memory: ConditionalLock::new(Table::new()),
            adding: ConditionalLock::new(()),
        }
    }

    /// The paths of the transports with the highest exclusivity that reach the process. Others are not asked: what is not used expects
    /// nothing of the process either.
    fn find(&self, process: &Process) -> Result<Vec<(&'static str, Path)>> {
        let mut paths = Vec::new();
        let published = self.published(process)?;
        let mut candidates: Vec<_> = self.transports.iter().zip(&published).collect();
        let exclusivity = |transport: &Transport| transport.module.caps().exclusivity;
        sort::by_key(&mut candidates, |(transport, _)| core::cmp::Reverse(exclusivity(transport)));
        let known = self.to_memory.lock().get(process.index as usize).copied();
        let mut best = 0;
        for (transport, address) in candidates {
            let Some(address) = address else { continue };
            if exclusivity(transport) < best {
                break;
            }
            let known = known.filter(|path| core::ptr::addr_eq(path.module, transport.module));
            let added = match known {
                Some(path) => Some(path.endpoint),
                None => transport.module.add_peer(peer(process, address))?,
            };
            if let Some(endpoint) = added {
                best = exclusivity(transport);
                transport.poll()?;
                paths.push((transport.name, Path { module: transport.module, endpoint }));
            }
        }
        Ok(paths)
    }

    /// The first transport that reaches a process's memory, connected for that.
    fn find_to_memory(&self, process: &Process) -> Result<Option<Path>> {
        let candidates = || self.transports.iter().filter(|transport| reaches_memory(transport.module));
        if process.is_self || candidates().next().is_none() {
            return Ok(None);
        }
        let published = self.published(process)?;
        for (transport, address) in self.transports.iter().zip(&published) {
            let Some(address) = address.as_ref().filter(|_| reaches_memory(transport.module)) else { continue };
            if let Some(endpoint) = transport.module.add_peer(peer(process, address))? {
                transport.poll()?;
                return Ok(Some(Path { module: transport.module, endpoint }));
            }
        }
        Ok(None)
    }

    /// Per transport what its component's modules there published, one after the other; `None` if there is no such
    /// component there.
    fn published(&self, process: &Process) -> Result<Vec<Option<Vec<u8>>>> {
        let mut published: Vec<Option<Vec<u8>>> = self.transports.iter().map(|_| None).collect();
        let mut rest = process.addresses()?;
        while let Some((name, address)) = addresses::pop(&mut rest) {
            for (transport, all) in self.transports.iter().zip(&mut published) {
                if transport.name.as_bytes() == name {
                    all.get_or_insert_default().extend_from_slice(address);
                }
            }
        }
        if !rest.is_empty() {
            message!("the addresses of process {} end in the middle; they were damaged on the way", process.index);
            return Err(Error::Malformed);
        }
        Ok(published)
    }
}

impl Module for R2 {
    fn addresses(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for transport in &self.transports {
            addresses::push(&mut bytes, transport.name, &transport.module.address());
        }
        bytes
    }

    fn addresses_beyond_job(&self, name: btl::ProcessName) -> Vec<u8> {
        let mut bytes = Vec::new();
        for transport in &self.transports {
            let address = transport.module.address_beyond_job(name);
            if !address.is_empty() {
                addresses::push(&mut bytes, transport.name, &address);
            }
        }
        bytes
    }

    fn remove_process(&self, process: u32) {
        let paths = self.found.lock().take(process as usize);
        paths.iter().flat_map(|paths| paths.iter()).for_each(|path| path.module.remove_peer(path.endpoint));
    }

    fn memory_path(&self, process: &Process) -> Result<Option<Path>> {
        let _alone = self.adding.lock();
        let index = process.index as usize;
        if let Some(path) = self.paths(process.index).iter().find(|path| reaches_memory(path.module)) {
            return Ok(Some(*path));
        }
        if let Some(path) = self.to_memory.lock().get(index) {
            return Ok(Some(*path));
        }
        let path = self.find_to_memory(process)?;
        if let Some(path) = path {
            *self.to_memory.lock().place(index) = Some(path);
        }
        Ok(path)
    }

    fn add_process(&self, process: &Process) -> Result<Arc<[Path]>> {
        let _alone = self.adding.lock();
        let mut paths = self.find(process)?;
        sort::by_key(&mut paths, |(_, path)| path.module.caps().latency_ns);
        let Some((name, _)) = paths.first() else {
            message!("{}", self.why_unreachable(process));
            return Err(Error::Unreachable);
        };
        let btl = &btl::FRAMEWORK;
        verbose!(btl, 40, "process {} is reached by {name} ({} paths)", process.index, paths.len());
        let paths: Arc<[Path]> = paths.into_iter().map(|(_, path)| path).collect();
        *self.found.lock().place(process.index as usize) = Some(paths.clone());
        Ok(paths)
    }

    #[cold]
    fn why_unreachable(&self, process: &Process) -> String {
        let mut have = String::new();
        for transport in &self.transports {
            have.push_str(if have.is_empty() { "" } else { ", " });
            have.push_str(transport.name);
        }
        let place = if process.same_node { "this node" } else { "another node" };
        let others = others(&select::decisions());
        let process = process.described();
        format!("no transport reaches {process}, on {place}; those that run here are: {have}{others}")
    }

    fn paths(&self, process: u32) -> Arc<[Path]> {
        self.found.lock().get(process as usize).cloned().unwrap_or_default()
    }

    fn transport_name(&self, path: &Path) -> Option<&'static str> {
        let is_path = |transport: &&Transport| core::ptr::addr_eq(transport.module, path.module);
        self.transports.iter().find(is_path).map(|transport| transport.name)
    }

    fn modules(&self) -> &'static [&'static dyn btl::Module] {
        self.modules
    }
}

fn peer<'a>(process: &Process, address: &'a [u8]) -> Peer<'a> {
    Peer { index: process.index, is_self: process.is_self, same_node: process.same_node, address }
}

fn reaches_memory(module: &dyn btl::Module) -> bool {
    let RemoteCaps { put_bytes, get_bytes, .. } = module.caps().remote;
    put_bytes > 0 && get_bytes > 0
}

/// Why the other transports do not run.
fn others(decisions: &[Decision]) -> String {
    let mut text = String::new();
    for Decision { component, verdict, .. } in decisions.iter().filter(|one| one.framework == btl::FRAMEWORK.name) {
        match verdict {
            Verdict::Declined(why) => text += &format!("; {component} does not: {why}"),
            Verdict::Excluded => text += &format!("; {component} does not: `--mca btl` leaves it out"),
            Verdict::Chosen(_) | Verdict::LowerPriority(_) => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_transports_that_do_not_run() {
        let decision = |framework, component, verdict| Decision { framework, component, verdict };
        let all = [
            decision("btl", "self", Verdict::Chosen(None)),
            decision("btl", "sm", Verdict::Excluded),
            decision("btl", "tcp", Verdict::Declined("no network interface is up")),
            decision("smsc", "cma", Verdict::Excluded),
        ];
        assert_eq!(others(&all), "; sm does not: `--mca btl` leaves it out; tcp does not: no network interface is up");
    }
}
