//! Registration.

use crate::module::{Own, Rdma};
use crate::peer::Peer;
use crate::wire::{Place, Told};
use crate::words;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::bml::{self, Path};
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::process;
use ompi_core::win::node::{self, PAGE};
use opal_core::framework::btl::{Atomic, RemoteCaps};
use opal_core::framework::rcache;
use opal_core::mca::name::Selection;
use opal_core::mca::{self, Declined};
use opal_core::shareable::Owned;

/// The component.
pub struct RdmaOsc;

impl mca::Component for RdmaOsc {
    opal_core::component_info!();
}

impl osc::Component for RdmaOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        match plan.flavor {
            Flavor::Create | Flavor::Allocate => {}
            Flavor::Dynamic => return Err(Declined("memory is attached to the window later")),
            Flavor::Shared => return Err(Declined("a fabric gives no process the memory of another one")),
        }
        if plan.alignment > PAGE {
            return Err(Declined("it aligns memory to pages at most"));
        }
        if plan.comm.size() == 1 {
            return Err(Declined("there is no other process"));
        }
        let paths = paths(&plan.comm)?;
        let named = Selection::parse(osc::FRAMEWORK.selection.text());
        let is_named = matches!(named, Selection::Only(_)) && named.wants(INFO.name);
        let may_compute = paths.iter().all(|path| path.module.caps().remote.peer_may_compute);
        Ok(if may_compute || is_named { PRIORITY } else { PRIORITY_IF_POLLED })
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let paths = paths(&plan.comm).ok();
        let registered = paths.as_ref().and_then(|paths| register(plan, parts, paths));
        let own = registered.as_ref().map_or([0; _], |(_, told)| told.encode());
        let all = node::exchange(&plan.comm, own)?;
        let ((own, _), paths) = registered.zip(paths).ok_or_else(node::no_memory)?;
        let mut peers = Vec::new();
        for (rank, (told, part)) in all.iter().zip(parts).enumerate() {
            let told = Told::parse(told, words::count(parts.len()), part.bytes).ok_or_else(node::no_memory)?;
            let process = plan.comm.group.members().get(rank).ok_or_else(node::no_memory)?;
            peers.push(Peer::new((rank, process), paths[rank], *part, &told)?);
        }
        Ok(Arc::new(Rdma::new(plan.comm.clone(), own, peers.into_boxed_slice())))
    }
}

/// By rank: the way to each process's memory, all by one transport.
fn paths(comm: &Communicator) -> Result<Box<[Path]>, Declined> {
    let bml = bml::selected().ok_or(Declined("no transport runs"))?;
    let mut paths = Vec::new();
    for member in comm.group.members().iter() {
        let process = process::get(member);
        // This process itself comes later, by the transport of the others.
        let path = if process.is_self { Ok(None) } else { bml.memory_path(&process) };
        match path {
            Ok(Some(path)) => paths.push(Some(path)),
            Ok(None) if process.is_self => paths.push(None),
            _ => return Err(Declined("no transport reaches the memory of some process by put and get")),
        }
    }
    let Some(module) = paths.iter().flatten().next().map(|path| path.module) else {
        return Err(Declined("there is no other process"));
    };
    if paths.iter().flatten().any(|path| !core::ptr::addr_eq(path.module, module)) {
        return Err(Declined("different transports reach the memory of different processes"));
    }
    let RemoteCaps { atomics_of_8, .. } = module.caps().remote;
    if !atomics_of_8.has(Atomic::Add(0)) || !atomics_of_8.has(Atomic::CompareSwap(0, 0)) {
        return Err(Declined("the transport has put and get, but no atomic operations to lock with"));
    }
    let own = module.own_endpoint().ok().flatten();
    let own = own.ok_or(Declined("the transport does not reach this process's own words"))?;
    Ok(paths.into_iter().map(|path| path.unwrap_or(Path { module, endpoint: own })).collect())
}

/// Makes what this process needs, and registers it; `None` if there is no room for it.
fn register(plan: &Plan, parts: &[Part], paths: &[Path]) -> Option<(Own, Told)> {
    let bytes = plan.own.bytes;
    let made = if plan.flavor == Flavor::Allocate { node::own_part(bytes, plan.alignment, parts) } else { None };
    let base = made.as_ref().map_or(plan.base, Owned::at);
    if bytes > 0 && base.is_null() {
        return None;
    }
    let base = base.expose_provenance();
    let with = rcache::of(paths.first()?.module);
    let mut own = Own { base, bytes, words: words::make(parts.len()), _made: made, with, leases: Vec::new() };
    let at_words = own.words.as_ptr().expose_provenance();
    let words = place(&mut own, at_words, 8 * words::count(parts.len()))?;
    let memory = if bytes > 0 { place(&mut own, base, bytes)? } else { Place::default() };
    Some((own, Told { words, memory }))
}

fn place(own: &mut Own, address: usize, bytes: usize) -> Option<Place> {
    let mut place = Place { address: address as u64, key: Vec::new() };
    let at = core::ptr::with_exposed_provenance_mut(address);
    let lease = own.with.acquire(at, bytes, &mut |key| place.key = key.to_vec()).ok()?;
    own.leases.push(lease);
    Some(place)
}

opal_core::component! {
    /// One-sided communication by a transport that reaches memory by itself.
    pub static COMPONENT: RdmaOsc = RdmaOsc;
    in ompi_core::framework::osc, name "rdma", params &[]
}

/// Above messages, below what the processes of a node have.
const PRIORITY: i32 = 20;
/// Below messages, if the target must poll for both: a message says more at once. Chosen by name.
const PRIORITY_IF_POLLED: i32 = 5;
