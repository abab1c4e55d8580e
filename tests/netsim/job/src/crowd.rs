//! A thousand senders to one rank that computes: its memory stays bounded, nothing waits for ever, and every message comes once.

use crate::host;
use crate::mpi::{BYTE, Transfer};
use crate::traffic::read;
use ompi_core::comm;
use ompi_core::status::ANY_SOURCE;
use opal_core::progress;

/// What the ranks do: a line of numbers, or what was wrong.
pub fn run() -> Result<String, String> {
    let refuse = 50_000;
    btl_faulty::reseed(u64::from(host::rank()), btl_faulty::Chances { refuse, ..Default::default() });
    let line = if host::rank() == 0 { receive()? } else { send()? };
    host::barrier(ENDED, || _ = progress::pass());
    Ok(line)
}

/// All at once.
fn send() -> Result<String, String> {
    let me = host::rank();
    let begin = |number| Transfer::send(data(me, number), BYTE, (0, number as i32), comm::WORLD_HANDLE, false);
    let mut left: Vec<Transfer> = (0..MESSAGES).map(begin).collect();
    while !left.is_empty() {
        left.retain_mut(|transfer| transfer.test().is_none());
        progress::pass();
        host::pass();
    }
    Ok(read(&pml_ob1::INFO, "rts_sent").to_string())
}

fn receive() -> Result<String, String> {
    // It computes: nothing is taken from the wire.
    (0..COMPUTES).for_each(|_| host::pass());
    // It is in MPI, and waits for something else.
    for _ in 0..COMPUTES {
        progress::pass();
        host::pass();
    }
    let senders = host::size() - 1;
    let mut has_come = vec![false; (u64::from(host::size()) * MESSAGES) as usize];
    for first in (0..MESSAGES).step_by(AT_ONCE) {
        let tags = (0..senders).flat_map(|_| first..first + AT_ONCE as u64);
        let begin = |tag| Transfer::receive(vec![0; BYTES], BYTE, tag as i32, comm::WORLD_HANDLE, ANY_SOURCE);
        let mut left: Vec<Transfer> = tags.map(begin).collect();
        while !left.is_empty() {
            let mut wrong = None;
            left.retain_mut(|transfer| {
                let Some(status) = transfer.test() else { return true };
                let (from, tag) = (status.source as u32, status.tag as u64);
                let place = u64::from(from) * MESSAGES + tag;
                if core::mem::replace(&mut has_come[place as usize], true) || transfer.buffer != data(from, tag) {
                    wrong = Some((from, tag));
                }
                false
            });
            if let Some((from, tag)) = wrong {
                return Err(format!("message {tag} of rank {from} is not what it sent, or came twice"));
            }
            progress::pass();
            host::pass();
        }
    }
    let most = read(&pml_ob1::INFO, "unexpected_memory_most");
    let bound = u64::from(senders) * BOUND_BYTES;
    match most <= bound && 2 * most > bound {
        true => Ok(most.to_string()),
        false => Err(format!("at most {most} bytes were unexpected at once, with a bound of {bound}")),
    }
}

fn data(from: u32, number: u64) -> Vec<u8> {
    (0..BYTES).map(|place| (u64::from(from) * 31 + number * 7 + place as u64) as u8).collect()
}

const ENDED: u32 = 100;
const BYTES: usize = 1000;
/// More of a sender than may be unexpected, 8 KiB as the parameters of the simulation say, and what is on the way until it hears of it.
const MESSAGES: u64 = 32;
const BOUND_BYTES: u64 = (8 << 10) + 10 * 1100;
/// Messages of each sender that are received at once.
const AT_ONCE: usize = 8;
const COMPUTES: u64 = 20;
