//! The registry of `orte_core::gpr` with the same knowledge.

use crate::job::{Job, Process};
use orte_core::gpr::key::{Key, NODE_NAME, PROC_ADDRESSES, PROC_CONTACT, PROC_LOCAL_RANK, PROC_NODE, Value};
use orte_core::gpr::registry::Registry;
use orte_core::gpr::segment::SegmentId;
use orte_core::gpr::view::View;

const JOB: SegmentId = SegmentId::Job(0);

/// A registry that knows the job; names of nodes only if asked for.
pub fn registry(job: &Job, names: bool) -> Registry {
    let mut registry = Registry::default();
    registry.add_segment(SegmentId::Nodes, job.nodes.len() as u32).expect("a job has nodes");
    registry.add_segment(JOB, job.processes.len() as u32).expect("a job has processes");
    for (node, name) in (0..).zip(job.nodes.iter().filter(|_| names)) {
        registry.put(SegmentId::Nodes, node, NODE_NAME, Value::Text(name)).expect("a node");
    }
    for (rank, process) in (0..).zip(&job.processes) {
        let mut put = |key: Key, value| registry.put(JOB, rank, key, value).expect("a process");
        put(PROC_NODE, Value::Number(process.node.into()));
        put(PROC_LOCAL_RANK, Value::Number(process.local_rank.into()));
        put(PROC_CONTACT, Value::Bytes(&process.contact));
        put(PROC_ADDRESSES, Value::Bytes(&process.addresses));
    }
    registry
}

/// The job that a message tells of; `None` if it is none.
pub fn decode(bytes: &[u8]) -> Option<Job> {
    let view = View::new_checked(bytes).ok()?;
    let mut job = Job { nodes: Vec::new(), processes: Vec::new() };
    while let Some(Value::Text(name)) = view.get(SegmentId::Nodes, job.nodes.len() as u32, NODE_NAME) {
        job.nodes.push(name.into());
    }
    let section = view.sections().iter().find(|section| section.segment() == JOB)?;
    let column = |key: Key| section.columns().find(|column| column.0 == key).map(|column| column.1);
    let (nodes, local_ranks) = (column(PROC_NODE)?, column(PROC_LOCAL_RANK)?);
    let (contacts, addresses) = (column(PROC_CONTACT)?, column(PROC_ADDRESSES)?);
    for rank in section.containers() {
        let (Value::Number(node), Value::Number(local_rank)) = (nodes.at(rank), local_ranks.at(rank)) else {
            return None;
        };
        let (Value::Bytes(contact), Value::Bytes(addresses)) = (contacts.at(rank), addresses.at(rank)) else {
            return None;
        };
        job.processes.push(Process {
            node: node as u32,
            local_rank: local_rank as u32,
            contact: contact.try_into().ok()?,
            addresses: addresses.try_into().ok()?,
        });
    }
    Some(job)
}
