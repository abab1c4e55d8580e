//! What one seed does: faults, messages and receives in any order, compared with the model.

use crate::alone::SHORT_INT;
use crate::clock;
use crate::model::Model;
use crate::mpi::{BYTE, Transfer};
use ompi_core::comm;
use ompi_core::status::{ANY_SOURCE, ANY_TAG};
use opal_core::mca::Info;
use opal_core::mca::pvar::Reading;
use opal_core::progress;
use opal_core::random::Random;

/// What a seed came to: equal for equal seeds, whatever ran before in the process.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Passes of progress.
    pub passes: u64,
    /// Faults that were made: messages with a changed bit, lost, doubled, overtaken, delayed, refused.
    pub faults: [u64; 6],
    /// Messages that were sent again.
    pub sent_again: u64,
}

struct Message {
    transfer: Option<Transfer>,
    data: Vec<u8>,
    tag: i32,
}

struct Receive {
    transfer: Option<Transfer>,
    datatype: usize,
    gets: Option<usize>,
}

struct Run {
    random: Random,
    models: [Model; 2],
    // Communicator and message or receive.
    messages: Vec<Message>,
    receives: Vec<Receive>,
    passes: u64,
}

/// Runs a seed to its end. `Err` says what was wrong.
pub fn run(seed: u64) -> Result<Outcome, String> {
    let mut run = Run {
        random: Random::new(seed),
        models: Default::default(),
        messages: Vec::new(),
        receives: Vec::new(),
        passes: 0,
    };
    let before = counters();
    btl_faulty::reseed(seed, chances(&mut run.random));
    for _ in 0..STEPS {
        match run.random.below(5) {
            0 | 1 => run.send(None),
            2 | 3 => run.receive(None),
            _ => run.pass_some(),
        }
        run.look()?;
    }
    run.find_partners();
    run.finish()?;
    run.quiesce();
    let after = counters();
    let counted = |index: usize| after[index] - before[index];
    let outcome =
        Outcome { passes: run.passes, faults: core::array::from_fn(counted), sent_again: counted(SENT_AGAIN) };
    if counted(DAMAGED) != counted(0) {
        return Err(format!("{} messages were damaged, and {} were noticed", counted(0), counted(DAMAGED)));
    }
    Ok(outcome)
}

/// Some seeds have no faults, some a few of one kind, some many of all.
fn chances(random: &mut Random) -> btl_faulty::Chances {
    let most = [0, 10_000, 100_000, 250_000][random.below(4) as usize];
    let corrupt = random.below(most + 1);
    let mut chance = || if random.happens(1, 2) { random.below(most + 1) } else { 0 };
    let (drop, duplicate, reorder, delay, refuse) = (chance(), chance(), chance(), chance(), chance());
    btl_faulty::Chances { corrupt, drop, duplicate, reorder, delay, refuse, delay_us: 1 + random.below(20_000) }
}

impl Run {
    fn send(&mut self, answers: Option<(usize, i32)>) {
        let (comm, tag) = answers.unwrap_or_else(|| (self.random.below(2) as usize, self.random.below(4) as i32));
        let number = self.messages.len();
        let packed = self.random.happens(1, 4);
        let bytes = self.bytes(tag) / 8 * 8 + if packed { 0 } else { self.random.below(8) as usize };
        let buffer: Vec<u8> = (0..bytes).map(|place| byte(number, place)).collect();
        let data = if packed { without_gaps(&buffer) } else { buffer.clone() };
        let synchronous = self.random.happens(1, 5);
        let datatype = if packed { SHORT_INT } else { BYTE };
        let transfer = Some(Transfer::send(buffer, datatype, (0, tag), COMMS[comm], synchronous));
        self.messages.push(Message { transfer, data, tag });
        if let Some(receive) = self.models[comm].send(number, tag) {
            self.receives[receive].gets = Some(number);
        }
    }

    /// What fits everywhere, seldom what is announced first, and only with one tag what needs many fragments.
    fn bytes(&mut self, tag: i32) -> usize {
        let most = match self.random.below(8) {
            0..=3 => 64,
            4 | 5 => 4096,
            6 => SHORT_ROOM - 8,
            _ if tag == LONG_TAG => ROOM - 8,
            _ => 1024,
        };
        self.random.below(most as u64 + 1) as usize
    }

    fn receive(&mut self, answers: Option<(usize, i32)>) {
        let (comm, tag) = answers.unwrap_or_else(|| {
            let (comm, tag) = (self.random.below(2) as usize, self.random.below(5) as i32);
            (comm, if tag == 4 { ANY_TAG } else { tag })
        });
        let number = self.receives.len();
        let datatype = if self.random.happens(1, 4) { SHORT_INT } else { BYTE };
        let room = if tag == ANY_TAG || tag == LONG_TAG { ROOM } else { SHORT_ROOM };
        // With gaps the same data takes more.
        let room = if datatype == SHORT_INT { (room / 6 + 1) * 8 } else { room };
        let source = if self.random.happens(1, 3) { ANY_SOURCE } else { 0 };
        let transfer = Some(Transfer::receive(vec![UNTOUCHED; room], datatype, tag, COMMS[comm], source));
        let gets = self.models[comm].receive(number, tag);
        self.receives.push(Receive { transfer, datatype, gets });
    }

    fn pass_some(&mut self) {
        for _ in 0..self.random.below(20) {
            self.pass();
        }
    }

    fn pass(&mut self) {
        clock::advance(self.random.below(40_000));
        progress::pass();
        self.passes += 1;
    }

    /// Takes what is over, and compares it.
    fn look(&mut self) -> Result<(), String> {
        for message in &mut self.messages {
            if message.transfer.as_mut().is_some_and(|transfer| transfer.test().is_some()) {
                message.transfer = None;
            }
        }
        for number in 0..self.receives.len() {
            let Some(transfer) = &mut self.receives[number].transfer else { continue };
            let Some(status) = transfer.test() else { continue };
            let Some(Transfer { buffer, .. }) = self.receives[number].transfer.take() else { continue };
            let Receive { datatype, gets, .. } = self.receives[number];
            let Some(gets) = gets else { return Err(format!("receive {number} ended, which gets nothing")) };
            let Message { data, tag, .. } = &self.messages[gets];
            if (status.source, status.tag, status.bytes()) != (0, *tag, data.len() as u64) {
                return Err(format!(
                    "receive {number} gets message {gets} of {} bytes with tag {tag}, and says {status:?}",
                    data.len()
                ));
            }
            let got = if datatype == SHORT_INT { without_gaps(&buffer) } else { buffer };
            if let Some(place) = (0..data.len()).find(|place| got[*place] != data[*place]) {
                return Err(format!("receive {number}, message {gets} of {} bytes: byte {place} differs", data.len()));
            }
            if got[data.len()..].iter().any(|byte| *byte != UNTOUCHED) {
                return Err(format!("receive {number}: bytes behind the {} of message {gets} changed", data.len()));
            }
        }
        Ok(())
    }

    fn find_partners(&mut self) {
        for comm in 0..COMMS.len() {
            while let Some(tag) = self.models[comm].unreceived() {
                self.receive(Some((comm, tag)));
            }
            while let Some(wanted) = self.models[comm].unsent() {
                self.send(Some((comm, if wanted == ANY_TAG { 0 } else { wanted })));
            }
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let is_over = |run: &Run| {
            run.messages.iter().all(|message| message.transfer.is_none())
                && run.receives.iter().all(|receive| receive.transfer.is_none())
        };
        while !is_over(self) {
            if self.passes > PASSES_MOST {
                let sends = self.messages.iter().filter(|message| message.transfer.is_some()).count();
                let receives = self.receives.iter().filter(|receive| receive.transfer.is_some()).count();
                return Err(format!("it stands still: {sends} sends and {receives} receives do not end"));
            }
            for _ in 0..PASSES_PER_LOOK {
                self.pass();
            }
            self.look()?;
        }
        Ok(())
    }

    /// Without faults, until nothing is under way: the next seed begins as the first one did.
    fn quiesce(&mut self) {
        btl_faulty::reseed(0, btl_faulty::Chances::default());
        for _ in 0..QUIET_PASSES {
            clock::advance(600_000_000);
            progress::pass();
        }
    }
}

/// Byte `place` of message `number`.
fn byte(number: usize, place: usize) -> u8 {
    (number * 37 + place * 131 + (place >> 8) * 7) as u8
}

/// The data of elements of MPI_SHORT_INT: of each eight bytes the first two and the last four.
fn without_gaps(buffer: &[u8]) -> Vec<u8> {
    buffer.chunks_exact(8).flat_map(|element| element[..2].iter().chain(&element[4..])).copied().collect()
}

/// What was counted so far: the faults, then what pml/ob1 noticed and repaired.
fn counters() -> [u64; 8] {
    let faults = ["corrupted", "dropped", "duplicated", "reordered", "delayed", "refused"];
    let faults = faults.map(|name| read(&btl_faulty::INFO, name));
    let [a, b, c, d, e, f] = faults;
    [a, b, c, d, e, f, read(&pml_ob1::INFO, "damaged"), read(&pml_ob1::INFO, "sent_again")]
}

fn read(component: &Info, name: &str) -> u64 {
    let pvar = component.pvars.iter().find(|pvar| pvar.name == name).expect("a variable of that name");
    let Reading::Of(read) = pvar.reading else { panic!("{name} is a mark") };
    read()
}

const DAMAGED: usize = 6;
const SENT_AGAIN: usize = 7;
/// MPI_COMM_WORLD and MPI_COMM_SELF: the same process twice.
const COMMS: [usize; 2] = [comm::WORLD_HANDLE, comm::SELF_HANDLE];
const STEPS: usize = 60;
const LONG_TAG: i32 = 3;
const SHORT_ROOM: usize = 20_000;
const ROOM: usize = 150_000;
const UNTOUCHED: u8 = 0xee;
/// Virtual minutes.
const PASSES_MOST: u64 = 5_000_000;
const QUIET_PASSES: usize = 60;
const PASSES_PER_LOOK: usize = 8;
