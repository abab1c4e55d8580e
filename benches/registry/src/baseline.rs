//! The baseline: a string-keyed message as the original registry is described.
//!
//! A subscriber gets, per subscription, every value with all that identifies it: the segment's name, the tokens of its
//! container, the name of the process, the name of its node, and of each entry its key as a string, its type and its
//! length. An MPI process had three subscriptions at the first gate: where everybody is, how to reach it out of band, and
//! what its transports published. Numbers have four bytes and are big-endian.

use crate::job::{Job, Process};
use crate::strings::{Reader, read, written};

const SEGMENT: &str = "orte-job-0-1";
const TYPE_NUMBER: u8 = 10;
const TYPE_STRING: u8 = 12;
const TYPE_BYTES: u8 = 13;

/// The three subscriptions by name, each with the key of what it wants of a process.
const SUBSCRIPTIONS: [(&str, &str); 3] = [
    ("orte-std-proc-map", "orte-proc-local-rank"),
    ("orte-std-oob-contact", "orte-oob-contact-info"),
    ("ompi-modex", "ompi-modex-btl.tcp.1.0"),
];

/// The message.
pub fn encode(job: &Job) -> Vec<u8> {
    let mut out = Vec::new();
    number(&mut out, SUBSCRIPTIONS.len() as u32);
    for (which, (subscription, key)) in SUBSCRIPTIONS.iter().enumerate() {
        string(&mut out, subscription);
        number(&mut out, job.processes.len() as u32);
        for (rank, process) in job.processes.iter().enumerate() {
            string(&mut out, SEGMENT);
            number(&mut out, 1);
            string(&mut out, &format!("[0,1,{rank}]"));
            number(&mut out, 3);
            entry(&mut out, "orte-proc-name", TYPE_BYTES, &name(rank as u32));
            entry(&mut out, "orte-node-name", TYPE_STRING, job.nodes[process.node as usize].as_bytes());
            match which {
                0 => entry(&mut out, key, TYPE_NUMBER, &process.local_rank.to_be_bytes()),
                1 => entry(&mut out, key, TYPE_STRING, uri(rank, process).as_bytes()),
                _ => entry(&mut out, key, TYPE_BYTES, &process.addresses),
            }
        }
    }
    out
}

/// The job that a message tells of; `None` if it is none.
pub fn decode(bytes: &[u8]) -> Option<Job> {
    let mut from = Reader(bytes);
    let mut job = Job { nodes: Vec::new(), processes: Vec::new() };
    for which in 0..from.number()? {
        from.string()?;
        for _ in 0..from.number()? {
            let (_segment, _tokens) =
                (from.string()?, (0..from.number()?).map(|_| from.string()).collect::<Option<Vec<_>>>()?);
            let entries = (0..from.number()?).map(|_| field(&mut from)).collect::<Option<Vec<_>>>()?;
            let of = |key: &str| entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
            let rank = u32::from_be_bytes(of("orte-proc-name")?.get(8..)?.try_into().ok()?) as usize;
            let value = of(SUBSCRIPTIONS.get(which as usize)?.1)?;
            if which == 0 {
                let name = std::str::from_utf8(of("orte-node-name")?).ok()?;
                if job.nodes.last().is_none_or(|last| last != name) {
                    job.nodes.push(name.into());
                }
                job.processes.push(Process {
                    node: job.nodes.len() as u32 - 1,
                    local_rank: u32::from_be_bytes(value.try_into().ok()?),
                    contact: [0; 6],
                    addresses: [0; 14],
                });
                continue;
            }
            let process = job.processes.get_mut(rank)?;
            match which {
                1 => process.contact = read(std::str::from_utf8(value).ok()?.split_once("://")?.1)?,
                _ => process.addresses = value.try_into().ok()?,
            }
        }
    }
    Some(job)
}

/// Cell, job and rank.
fn name(rank: u32) -> [u8; 12] {
    let mut name = [0; 12];
    name[7] = 1;
    name[8..].copy_from_slice(&rank.to_be_bytes());
    name
}

fn uri(rank: usize, process: &Process) -> String {
    format!("0.1.{rank};tcp://{}", written(&process.contact))
}

fn entry(out: &mut Vec<u8>, key: &str, kind: u8, value: &[u8]) {
    string(out, key);
    out.push(kind);
    number(out, value.len() as u32);
    out.extend_from_slice(value);
}

fn field<'a>(from: &mut Reader<'a>) -> Option<(String, &'a [u8])> {
    let key = from.string()?;
    from.byte()?;
    let length = from.number()? as usize;
    Some((key, from.take(length)?))
}

fn string(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u32);
    out.extend_from_slice(text.as_bytes());
}

fn number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}
