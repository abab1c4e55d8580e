//! What a careful engineer makes of strings: keys once per message, no repetition, lengths of one byte, node names once.

use crate::job::{Job, Process};
use crate::strings::{Reader, read, written};

const KEYS: [&str; 4] = ["node", "local", "oob", "tcp"];

/// The message: the keys, the nodes, and of each process the four values as texts, the addresses as bytes.
pub fn encode(job: &Job) -> Vec<u8> {
    let mut out = Vec::new();
    KEYS.iter().for_each(|key| short(&mut out, key.as_bytes()));
    out.extend_from_slice(&(job.nodes.len() as u32).to_be_bytes());
    job.nodes.iter().for_each(|name| short(&mut out, name.as_bytes()));
    out.extend_from_slice(&(job.processes.len() as u32).to_be_bytes());
    for process in &job.processes {
        short(&mut out, process.node.to_string().as_bytes());
        short(&mut out, process.local_rank.to_string().as_bytes());
        short(&mut out, written(&process.contact).as_bytes());
        short(&mut out, &process.addresses);
    }
    out
}

/// The job that a message tells of; `None` if it is none.
pub fn decode(bytes: &[u8]) -> Option<Job> {
    let mut from = Reader(bytes);
    for key in KEYS {
        (from.short()? == key.as_bytes()).then_some(())?;
    }
    let nodes = (0..from.number()?).map(|_| String::from_utf8(from.short()?.into()).ok()).collect::<Option<_>>()?;
    let mut processes = Vec::new();
    for _ in 0..from.number()? {
        let mut text = || std::str::from_utf8(from.short()?).ok();
        let (node, local_rank, contact) = (text()?.parse().ok()?, text()?.parse().ok()?, read(text()?)?);
        processes.push(Process { node, local_rank, contact, addresses: from.short()?.try_into().ok()? });
    }
    Some(Job { nodes, processes })
}

fn short(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}
