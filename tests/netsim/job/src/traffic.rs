//! What the ranks do for a seed: each sends to all, in its own order, and receives in another one. What came is compared with what MPI
//! promises of the order of messages (MPI 5.0 §3.5), byte by byte.

use crate::host;
use crate::mpi::{BYTE, Transfer};
use crate::sum;
use ompi_core::comm;
use ompi_core::status::{ANY_SOURCE, ANY_TAG};
use opal_core::mca::Info;
use opal_core::mca::pvar::Reading;
use opal_core::progress;
use opal_core::random::Random;

/// A message of the plan, which all ranks draw alike.
#[derive(Clone, Copy)]
struct Message {
    from: u32,
    to: u32,
    tag: i32,
    bytes: usize,
    is_synchronous: bool,
}

struct Receive {
    transfer: Option<Transfer>,
    source: i32,
    tag: i32,
    // The message that it got, by its number in the plan.
    got: Option<usize>,
}

struct Run {
    random: Random,
    plan: Vec<Message>,
    sends: Vec<Transfer>,
    receives: Vec<Receive>,
}

/// Runs a seed to its end: a line of counters, or what was wrong.
pub fn run(seed: u64) -> Result<String, String> {
    let mut common = Random::new(seed);
    let chances = chances(&mut common);
    let plan = plan(&mut common);
    let me = u64::from(host::rank());
    let mut run = Run { random: Random::new(seed << 20 | me), plan, sends: Vec::new(), receives: Vec::new() };
    btl_faulty::reseed(seed << 20 | me, chances);
    run.post(&mut common)?;
    let sum = sum::begin(1 << me);
    run.finish(sum)?;
    run.order()?;
    // Whoever is ready first answers the others, for as long as they repeat what was lost. Then without faults, until nothing is under way.
    host::barrier(EXCHANGED, || _ = progress::pass());
    btl_faulty::reseed(0, btl_faulty::Chances::default());
    for _ in 0..QUIET_PASSES {
        progress::pass();
        host::rest(REST_NS);
        host::pass();
    }
    host::barrier(QUIET, || _ = progress::pass());
    Ok(counters())
}

/// Some seeds have no faults, some a few of one kind, some many of all.
fn chances(random: &mut Random) -> btl_faulty::Chances {
    let most = [0, 10_000, 50_000, 150_000][random.below(4) as usize];
    let mut chance = || if random.happens(1, 2) { random.below(most + 1) } else { 0 };
    let (corrupt, drop, duplicate) = (chance(), chance(), chance());
    let (reorder, delay, refuse) = (chance(), chance(), chance());
    btl_faulty::Chances { corrupt, drop, duplicate, reorder, delay, refuse, delay_us: 1 + random.below(20_000) }
}

fn plan(random: &mut Random) -> Vec<Message> {
    let size = u64::from(host::size());
    let mut message = |_| {
        let most = [64, 64, 4000, 60_000][random.below(4) as usize];
        Message {
            from: random.below(size) as u32,
            to: random.below(size) as u32,
            tag: random.below(3) as i32,
            bytes: random.below(most + 1) as usize,
            is_synchronous: random.happens(1, 5),
        }
    };
    (0..MESSAGES_PER_RANK * size).map(&mut message).collect()
}

impl Run {
    /// Posts all sends of this rank in the order of the plan, and its receives in any, as they come.
    fn post(&mut self, common: &mut Random) -> Result<(), String> {
        let me = host::rank();
        // Each rank receives by names, by tags alone, or whatever comes: so each receive gets a message in the end.
        let kinds: Vec<u64> = (0..host::size()).map(|_| common.below(4)).collect();
        let wanted = |message: &Message| match kinds[me as usize] {
            0 => (message.from as i32, message.tag),
            1 => (ANY_SOURCE, message.tag),
            2 => (message.from as i32, ANY_TAG),
            _ => (ANY_SOURCE, ANY_TAG),
        };
        let mut out: Vec<usize> = (0..self.plan.len()).rev().filter(|&number| self.plan[number].from == me).collect();
        let mut wanted: Vec<_> = self.plan.iter().filter(|message| message.to == me).map(wanted).collect();
        while !out.is_empty() || !wanted.is_empty() {
            match self.random.below(4) {
                0 => out.pop().into_iter().for_each(|number| self.send(number)),
                1 if !wanted.is_empty() => {
                    let (source, tag) = wanted.swap_remove(self.random.below(wanted.len() as u64) as usize);
                    let transfer = Transfer::receive(vec![UNTOUCHED; ROOM], BYTE, tag, comm::WORLD_HANDLE, source);
                    self.receives.push(Receive { transfer: Some(transfer), source, tag, got: None });
                }
                _ => self.pass(),
            }
            self.look()?;
        }
        Ok(())
    }

    fn send(&mut self, number: usize) {
        let Message { to, tag, bytes, is_synchronous, .. } = self.plan[number];
        let data = (0..bytes).map(|place| byte(number, place)).collect();
        self.sends.push(Transfer::send(data, BYTE, (to as i32, tag), comm::WORLD_HANDLE, is_synchronous));
    }

    fn pass(&mut self) {
        progress::pass();
        host::pass();
    }

    /// Takes what is over, and finds the message that it is.
    fn look(&mut self) -> Result<(), String> {
        self.sends.retain_mut(|transfer| transfer.test().is_none());
        for number in 0..self.receives.len() {
            let Some(transfer) = &mut self.receives[number].transfer else { continue };
            let Some(status) = transfer.test() else { continue };
            let Some(Transfer { buffer, .. }) = self.receives[number].transfer.take() else { continue };
            let bytes = status.bytes() as usize;
            let is_it = |message: usize| {
                let Message { from, to, tag, bytes: sent, .. } = self.plan[message];
                (from as i32, to, tag, sent) == (status.source, host::rank(), status.tag, bytes)
                    && (0..bytes).all(|place| buffer[place] == byte(message, place))
            };
            let is_new = |message: &usize| self.receives.iter().all(|receive| receive.got != Some(*message));
            let found = (0..self.plan.len()).filter(is_new).find(|message| is_it(*message));
            let Some(found) = found else {
                return Err(format!("receive {number} got {bytes} bytes that nobody sent, and says {status:?}"));
            };
            if buffer[bytes..].iter().any(|byte| *byte != UNTOUCHED) {
                return Err(format!("receive {number}: bytes behind the {bytes} of message {found} changed"));
            }
            self.receives[number].got = Some(found);
        }
        Ok(())
    }

    /// Until all transfers and the sum are over.
    fn finish(&mut self, mut sum: Transfer) -> Result<(), String> {
        let mut has_sum = false;
        for _ in 0..PASSES_MOST {
            self.look()?;
            has_sum = has_sum || sum.test().is_some();
            let left = self.receives.iter().filter(|receive| receive.transfer.is_some()).count();
            if has_sum && left == 0 && self.sends.is_empty() {
                let all = (1_i64 << host::size()) - 1;
                let sum = sum::result(&sum);
                return if sum == all { Ok(()) } else { Err(format!("the sum is {sum:#x}, and not {all:#x}")) };
            }
            self.pass();
        }
        let left: Vec<usize> = (0..self.receives.len()).filter(|at| self.receives[*at].got.is_none()).collect();
        Err(format!(
            "after {PASSES_MOST} passes receives {left:?} wait for a message, {} sends go on, and the sum is {}",
            self.sends.len(),
            if has_sum { "there" } else { "not there" }
        ))
    }

    /// Where a receive could have got an earlier message of the same sender, an earlier receive got that.
    fn order(&self) -> Result<(), String> {
        for (number, receive) in self.receives.iter().enumerate() {
            let Some(got) = receive.got else { continue };
            let earlier = self.receives.iter().enumerate().filter_map(|(at, other)| Some((at, other.got?)));
            for (at, other) in earlier.filter(|(at, other)| *at > number && *other < got) {
                let fits = self.plan[other].from == self.plan[got].from
                    && (receive.tag == ANY_TAG || receive.tag == self.plan[other].tag)
                    && (receive.source == ANY_SOURCE || receive.source == self.plan[other].from as i32);
                if fits {
                    return Err(format!(
                        "receive {number} got message {got}, and message {other} of the same sender, sent before, only receive {at}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Byte `place` of message `number`.
fn byte(number: usize, place: usize) -> u8 {
    (number * 37 + place * 131 + (place >> 8) * 7) as u8
}

/// The faults that this rank made, then what it noticed and repaired.
fn counters() -> String {
    let faults = ["corrupted", "dropped", "duplicated", "reordered", "delayed", "refused"];
    let numbers = faults.map(|name| read(&btl_faulty::INFO, name).to_string());
    let [damaged, sent_again] = ["damaged", "sent_again"].map(|name| read(&pml_ob1::INFO, name).to_string());
    [&numbers[..], &[damaged, sent_again]].concat().join(" ")
}

/// A performance variable.
pub fn read(component: &Info, name: &str) -> u64 {
    let pvar = component.pvars.iter().find(|pvar| pvar.name == name).expect("a variable of that name");
    match pvar.reading {
        Reading::Of(read) => read(),
        Reading::Mark(mark) => mark.take_most(),
    }
}

const EXCHANGED: u32 = 100;
const QUIET: u32 = 101;
const MESSAGES_PER_RANK: u64 = 25;
const ROOM: usize = 60_001;
const UNTOUCHED: u8 = 0xee;
const PASSES_MOST: u64 = 100_000;
const QUIET_PASSES: usize = 60;
/// Longer than anything is repeated after.
const REST_NS: u64 = 600_000_000;
