//! Registration; the listening sockets are made here.

use crate::interfaces::{self, Interface};
use crate::lazy::Lazy;
use crate::module::Module;
use crate::params::{self, Limits};
use crate::poll::{TCP, Tcp};
use crate::pvars;
use crate::transport::{LocalInterface, Transport};
use crate::wire::{self, AddressRecord};
use crate::{raw, socket};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Job, ProcessName};
use opal_core::framework::reachable;
use opal_core::mca::{self, Declined};
use opal_core::{message, sys, verbose, wait};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        Ok(())
    }
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        let job = match btl::job() {
            // Where btl/sm cannot run in another process, the two have nothing in common: it is left out by `--mca btl ^sm`.
            Some(job) if job.size > 1 && !(job.one_node && btl::is_node_served()) => *job,
            _ => return Ok(Vec::from([Box::leak(Box::new(Lazy::new(beyond_job_alone))) as &'static dyn btl::Module])),
        };
        let said = Declined("its parameters do not fit this machine, see above");
        let interfaces = listening_interfaces(&job).map_err(|sentence| {
            message!("btl/tcp: {sentence}");
            said
        })?;
        if interfaces.is_empty() {
            return Err(Declined("no network interface with an address is up"));
        }
        let tcp = over(job, interfaces).map_err(|sentence| {
            message!("btl/tcp: {sentence}");
            said
        })?;
        let module = |interface| -> &'static dyn btl::Module { Box::leak(Box::new(Module::new(tcp, interface))) };
        Ok((0..tcp.transport.interfaces.len()).map(module).collect())
    }
}

/// A transport for processes of other jobs alone, whatever this process's own job is; `None` on a machine without a network. `Err` with a
/// sentence.
fn beyond_job_alone(name: ProcessName) -> Result<Option<&'static Tcp>, String> {
    let secret =
        sys::random().map_err(|errno| format!("the system gives no random numbers: {}", socket::why(errno)))?;
    let job = Job { number: name.job, index: name.rank, size: 0, one_node: false, secret };
    let interfaces = listening_interfaces(&job)?;
    if interfaces.is_empty() { Ok(None) } else { over(job, interfaces).map(Some) }
}

/// The transport, once somebody says which addresses reach which.
fn over(job: Job, interfaces: Vec<LocalInterface>) -> Result<&'static Tcp, String> {
    let unprotected = interfaces::networks("btl_tcp_unprotected_networks", params::UNPROTECTED_NETWORKS.text())?;
    reachable::select()
        .map_err(|_| String::from("the list in parameter `reachable` is invalid, see the message above"))?;
    let mut transport = Transport::new(job, Limits::new(), interfaces)
        .map_err(|errno| format!("the system refuses to watch sockets: {}", socket::why(errno)))?;
    transport.unprotected = unprotected;
    let tcp: &'static Tcp = Box::leak(Box::new(Tcp::new(transport)));
    TCP.call_once(|| tcp);
    wait::set_sockets(tcp);
    Ok(tcp)
}

/// Every usable interface, listening. `Err` with a sentence.
fn listening_interfaces(job: &Job) -> Result<Vec<LocalInterface>, String> {
    let limits = Limits::new();
    let range = params::ports(params::PORT.text()).map_err(|why| format!("btl_tcp_port: {why}"))?;
    let mut all = raw::interfaces().ok_or("the system does not list its network interfaces")?;
    let there = interfaces::list(&all);
    for name in interfaces::correct_speeds(&mut all, params::IF_SPEED.text())? {
        verbose!(btl::FRAMEWORK, 10, "tcp: btl_tcp_if_speed names {name}, which this machine does not have");
    }
    let (chosen, vain) = interfaces::choose(all, params::IF_INCLUDE.text(), params::IF_EXCLUDE.text())?;
    for named in vain {
        message!("btl/tcp: {named}, which this machine does not have, or without an address or a link; it has {there}");
    }
    if chosen.is_empty() && there != "none" {
        let (include, exclude) = (params::IF_INCLUDE.text(), params::IF_EXCLUDE.text());
        return Err(format!(
            "no network interface is left of {there}; btl_tcp_if_include is `{include}`, btl_tcp_if_exclude is `{exclude}`"
        ));
    }
    let chosen = needed(chosen, job, params::IF_INCLUDE.text().trim().is_empty(), btl::is_node_served());
    let (chosen, left_out) = interfaces::most(chosen, INTERFACES_MAX, interfaces::has_device);
    if !left_out.is_empty() {
        let (count, names) = (left_out.len(), left_out.join(" "));
        verbose!(btl::FRAMEWORK, 1, "tcp: {count} interfaces beside the first {INTERFACES_MAX} are left out: {names}");
    }
    let network = network_id();
    let (mut listening, mut refused) = (Vec::new(), String::new());
    for interface in chosen {
        let mut listeners = Vec::new();
        for (address, prefix) in interface.addresses {
            if listeners.iter().any(|(record, _): &(AddressRecord, _)| record.address.is_ipv4() == address.is_ipv4()) {
                // One address per family is enough for one interface.
                continue;
            }
            match socket::listen(address, range, &limits) {
                Ok((listener, port)) => {
                    let (number, loopback, mbps) = (listening.len() as u8, interface.loopback, interface.mbps);
                    let job = job.number;
                    let record =
                        AddressRecord { interface: number, address, prefix, loopback, port, mbps, job, network };
                    listeners.push((record, listener));
                }
                Err(why) => {
                    verbose!(btl::FRAMEWORK, 1, "tcp: interface {} is left out: {why}", interface.name);
                    refused += &format!("; {} {address}: {why}", interface.name);
                }
            }
        }
        if !listeners.is_empty() {
            listening.push(LocalInterface { name: interface.name, mbps: interface.mbps, listeners });
        }
    }
    match listening.is_empty() && !refused.is_empty() {
        true => Err(format!("no network interface can be listened on{refused}")),
        false => Ok(listening),
    }
}

/// The interfaces on which a process of the job can come, unless the user names some: on one node the loopback alone, and
/// where others reach the processes of the node, all but the loopback.
pub fn needed(chosen: Vec<Interface>, job: &Job, by_default: bool, node_served: bool) -> Vec<Interface> {
    let is_needed = |interface: &Interface| match (job.one_node, node_served) {
        (true, _) => interface.loopback,
        (false, true) => !interface.loopback,
        (false, false) => true,
    };
    // The user may have excluded the loopback.
    if by_default && chosen.iter().any(is_needed) { chosen.into_iter().filter(is_needed).collect() } else { chosen }
}

/// Equal for processes that share all interfaces: those of one network namespace of one running system.
fn network_id() -> u64 {
    let mut bytes = sys::read_file("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if let Ok(stat) = rustix::fs::stat("/proc/self/ns/net") {
        bytes.extend(stat.st_dev.to_le_bytes());
        bytes.extend(stat.st_ino.to_le_bytes());
    }
    bytes.extend(sys::hostname().into_bytes());
    wire::fnv(&bytes)
}

opal_core::component! {
    /// Sockets between nodes.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "tcp", params params::ALL, pvars pvars::ALL
}

const INTERFACES_MAX: usize = 8;
