//! Files of hosts as resource managers write them.

use super::{HOSTS_MAX, Host, add};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// PBS and LSF: a line for each slot. A host may come again later; then it has as many slots as lines.
pub fn line_per_slot(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        if words.next().is_some() {
            return Err(format!("line {}: `{line}` is more than the name of a host", index + 1));
        }
        add(&mut hosts, name, 1);
    }
    some(hosts)
}

/// Grid Engine: host, slots, queue, processors. A host has a line for each queue that gave it slots.
pub fn grid_engine(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let wrong = || format!("line {}: `{line}` is not a host, slots, a queue and processors", index + 1);
        let slots = words.next().and_then(|slots| slots.parse().ok()).filter(|slots| *slots > 0).ok_or_else(wrong)?;
        add(&mut hosts, name, slots);
    }
    some(hosts)
}

/// LSF: hosts and slots in turn.
pub fn pairs(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        let slots = words.next().and_then(|slots| slots.parse().ok()).filter(|slots| *slots > 0);
        add(&mut hosts, name, slots.ok_or_else(|| format!("`{text}`: no number of slots follows `{name}`"))?);
    }
    some(hosts)
}

fn some(hosts: Vec<Host>) -> Result<Vec<Host>, String> {
    match hosts.len() {
        0 => Err("no host is named".into()),
        1..=HOSTS_MAX => Ok(hosts),
        count => Err(format!("{count} hosts are named, more than {HOSTS_MAX}")),
    }
}
