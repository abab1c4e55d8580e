//! Seeded random traffic between all ranks. Every rank draws the same plan, so each knows what it must get.

use ompi_core::comm;
use ompi_core::data::Data;
use ompi_core::datatype::{self, Datatype};
use ompi_core::error::Class;
use ompi_core::executor;
use ompi_core::framework::pml::{self, MatchContext, Mode, NO_PROC};
use ompi_core::request::{self, handles};
use ompi_core::status::{ANY_SOURCE, ANY_TAG, PROC_NULL, Status};
use opal_core::datatype::Layout;

const ROUNDS: u64 = 60;
const BYTE: usize = 0x247;

#[derive(Clone, Copy, Debug)]
struct Message {
    from: i32,
    to: i32,
    tag: i32,
    // Which one of those with the same source, target and tag.
    number: usize,
    bytes: usize,
    mode: Mode,
    gaps: bool,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

/// Runs all rounds; panics with the seed on the first difference.
pub fn run(seed: u64) {
    edges();
    for round in 0..ROUNDS {
        Round::new(seed.wrapping_mul(1000) + round).run();
        // A wildcard must not take a message of the next round.
        executor::barrier(comm::world()).expect("coll/basic has one and all come");
    }
    if comm::world().rank == 0 {
        println!("seed {seed}: {ROUNDS} rounds between {} ranks are right", comm::world().size());
    }
}

struct Round {
    seed: u64,
    me: i32,
    plan: Vec<Message>,
    // How the receives of each rank name source and tag.
    any_source: bool,
    any_tag: bool,
}

struct Posted {
    handle: usize,
    buffer: Vec<u8>,
    room: usize,
    gaps: bool,
    expected: Option<Message>,
}

impl Round {
    fn new(seed: u64) -> Round {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let ranks = comm::world().size();
        let mut plan: Vec<Message> = Vec::new();
        for _ in 0..random.below(150) + 1 {
            let (from, to, tag) = (random.below(ranks) as i32, random.below(ranks) as i32, random.below(3) as i32);
            let same = |other: &&Message| (other.from, other.to, other.tag) == (from, to, tag);
            let number = plan.iter().filter(same).count();
            let bytes = match random.below(8) {
                0 => 0,
                1..4 => random.below(57),
                4..6 => random.below(9000),
                6 => random.below(70_000),
                _ => random.below(400_000),
            };
            let mode = if random.below(5) == 0 { Mode::Synchronous } else { Mode::Standard };
            plan.push(Message { from, to, tag, number, bytes, mode, gaps: random.below(4) == 0 });
        }
        let (any_source, any_tag) = (random.below(3) == 0, random.below(4) == 0);
        Round { seed, me: comm::world().rank as i32, plan, any_source, any_tag }
    }

    fn run(&self) {
        let mut random = Random(self.seed.wrapping_mul(77) + self.me as u64 * 1001 + 1);
        let sends: Vec<&Message> = self.plan.iter().filter(|message| message.from == self.me).collect();
        let receives: Vec<&Message> = self.plan.iter().filter(|message| message.to == self.me).collect();
        let early = random.below(receives.len() + 1);
        let mut posted: Vec<Posted> = receives[..early].iter().map(|message| self.post(message, &mut random)).collect();
        let mut buffers = Vec::new();
        let mut all: Vec<usize> = sends.iter().map(|message| self.send(message, &mut buffers)).collect();
        for message in &receives[early..] {
            posted.push(match random.below(3) {
                0 => self.post(message, &mut random),
                1 => self.receive(message, &mut random),
                _ => self.probe(message, &mut random),
            });
        }
        self.finish(posted);
        handles::wait_all(&mut all, None).unwrap_or_else(|fault| panic!("{}: send failed: {fault:?}", self.seed));
        assert!(all.iter().all(|handle| *handle == request::NULL));
    }

    fn envelope(&self, message: &Message) -> (i32, i32) {
        let source = if self.any_source { ANY_SOURCE } else { message.from };
        (source, if self.any_tag { ANY_TAG } else { message.tag })
    }

    // With wildcards any message may come, so there must be room for all.
    fn room(&self, message: &Message, random: &mut Random) -> (usize, Option<Message>) {
        if self.any_source || self.any_tag {
            return (400_000, None);
        }
        let room = if random.below(6) == 0 { message.bytes / 2 } else { message.bytes + random.below(3) * 5 };
        (room, Some(*message))
    }

    fn post(&self, message: &Message, random: &mut Random) -> Posted {
        let (source, tag) = self.envelope(message);
        let (room, expected) = self.room(message, random);
        let gaps = random.below(4) == 0;
        let mut buffer = vec![0xee; place_bytes(room, gaps)];
        let datatype = datatype_of(room, gaps);
        let data = Data { at: buffer.as_mut_ptr(), count: usize::from(room > 0), datatype: &datatype };
        // SAFETY: the buffer is on the heap and kept until the request is done.
        let request = unsafe { pml::selected().irecv(&data, source, tag, lane()) };
        let handle = request.expect("it starts").into_handle();
        Posted { handle, buffer, room, gaps, expected }
    }

    fn receive(&self, message: &Message, random: &mut Random) -> Posted {
        let (source, tag) = self.envelope(message);
        let (room, expected) = self.room(message, random);
        let mut buffer = vec![0xee; room];
        let datatype = datatype_of(room, false);
        let data = Data { at: buffer.as_mut_ptr(), count: usize::from(room > 0), datatype: &datatype };
        let mut status = Status::EMPTY;
        // SAFETY: the buffer lives during the call.
        let result = unsafe { pml::selected().recv(&data, source, tag, lane(), Some(&mut status)) };
        status.error = result.err().map_or(0, |fault| fault.get());
        let posted = Posted { handle: request::NULL, buffer, room, gaps: false, expected };
        self.compare(&posted, status);
        posted
    }

    fn probe(&self, message: &Message, random: &mut Random) -> Posted {
        let (source, tag) = self.envelope(message);
        let (_, expected) = self.room(message, random);
        let seen = pml::selected().probe(source, tag, lane()).expect("it comes");
        // The first of this source and tag is what a receive would get.
        let taken = pml::selected().mprobe(seen.source, seen.tag, lane()).expect("it is there");
        assert_eq!(
            (seen.source, seen.tag, seen.bytes()),
            (taken.status.source, taken.status.tag, taken.status.bytes())
        );
        let room = seen.bytes() as usize;
        let gaps = random.below(2) == 0;
        let mut buffer = vec![0xee; place_bytes(room, gaps)];
        let datatype = datatype_of(room, gaps);
        let data = Data { at: buffer.as_mut_ptr(), count: usize::from(room > 0), datatype: &datatype };
        // SAFETY: the buffer is on the heap and kept until the request is done.
        let request = unsafe { pml::selected().imrecv(&data, taken) };
        let handle = request.expect("it starts").into_handle();
        Posted { handle, buffer, room, gaps, expected: expected.map(|message| Message { bytes: room, ..message }) }
    }

    fn send(&self, message: &Message, buffers: &mut Vec<Vec<u8>>) -> usize {
        let content = content(message, message.bytes);
        let mut buffer = vec![0; place_bytes(message.bytes, message.gaps)];
        spread(&content, &mut buffer, message.gaps);
        let datatype = datatype_of(message.bytes, message.gaps);
        let count = usize::from(message.bytes > 0);
        let data = Data { at: buffer.as_mut_ptr(), count, datatype: &datatype };
        buffers.push(buffer);
        // SAFETY: the buffer is on the heap and kept until all requests are done.
        let request = unsafe { pml::selected().isend(&data, message.to, message.tag, message.mode, lane()) };
        request.expect("it starts").into_handle()
    }

    fn finish(&self, mut posted: Vec<Posted>) {
        let mut statuses = vec![Status::EMPTY; posted.len()];
        let mut all: Vec<usize> = posted.iter().map(|one| one.handle).collect();
        let active: Vec<bool> = all.iter().map(|handle| *handle != request::NULL).collect();
        match handles::wait_all(&mut all, Some(&mut statuses)) {
            Ok(()) => statuses.iter_mut().for_each(|status| status.error = 0),
            Err(fault) => assert_eq!(fault.get(), Class::InStatus as i32, "seed {}", self.seed),
        }
        for (index, one) in posted.iter_mut().enumerate() {
            if active[index] {
                self.compare(one, statuses[index]);
            }
        }
    }

    fn compare(&self, posted: &Posted, status: Status) {
        let seed = self.seed;
        let message = match posted.expected {
            Some(message) => {
                assert_eq!((status.source, status.tag), (message.from, message.tag), "seed {seed}");
                message
            }
            // Which one it is stands in no status: find the one with this content.
            None => {
                let bytes = status.bytes() as usize;
                let got = gather(&posted.buffer, bytes, posted.gaps);
                let fits = |message: &&Message| {
                    (message.from, message.to, message.tag, message.bytes)
                        == (status.source, self.me, status.tag, bytes)
                        && content(message, bytes) == got
                };
                *self.plan.iter().find(fits).unwrap_or_else(|| panic!("seed {seed}: nobody sent {status:?}"))
            }
        };
        let bytes = message.bytes.min(posted.room);
        let error = if message.bytes > posted.room { Class::Truncate as i32 } else { 0 };
        assert_eq!((status.error, status.bytes()), (error, bytes as u64), "seed {seed}: {message:?} {status:?}");
        let got = gather(&posted.buffer, bytes, posted.gaps);
        assert!(got == content(&message, bytes), "seed {seed}: other bytes than those of {message:?}");
        let behind = gather(&posted.buffer, posted.room, posted.gaps);
        assert!(behind[bytes..].iter().all(|byte| *byte == 0xee), "seed {seed}: written behind {message:?}");
    }
}

fn edges() {
    let (pml, me) = (pml::selected(), comm::world().rank as i32);
    let datatype = datatype_of(4, false);
    let mut buffer = [1u8, 2, 3, 4];
    let data = Data { at: buffer.as_mut_ptr(), count: 1, datatype: &datatype };
    let mut status = Status::EMPTY;
    // SAFETY: the buffer lives until the end of this function.
    unsafe {
        pml.send(&data, PROC_NULL, 0, Mode::Synchronous, lane()).unwrap();
        pml.recv(&data, PROC_NULL, 0, lane(), Some(&mut status)).unwrap();
        assert_eq!(status, Status::NO_PROC);
        let matched = pml.improbe(PROC_NULL, 0, lane()).unwrap().unwrap();
        assert_eq!(matched.token, NO_PROC);
        assert_eq!(pml.imrecv(&data, matched).unwrap().wait().unwrap(), Status::NO_PROC);
        // To itself: a synchronous send completes only when it is matched.
        let mut sent = pml.isend(&data, me, 5, Mode::Synchronous, lane()).unwrap().into_handle();
        assert!(handles::test(&mut sent).unwrap().is_none());
        let mut cancelled = pml.irecv(&data, me, 6, lane()).unwrap().into_handle();
        handles::cancel(cancelled).unwrap();
        assert!(handles::wait(&mut cancelled).unwrap().cancelled());
        pml.recv(&data, me, 5, lane(), Some(&mut status)).unwrap();
        assert_eq!((status.source, status.tag, status.bytes()), (me, 5, 4));
        handles::wait(&mut sent).unwrap();
        // Freed while under way: the message arrives all the same.
        let mut freed = pml.irecv(&data, me, 9, lane()).unwrap().into_handle();
        handles::free(&mut freed).unwrap();
        buffer = [5, 6, 7, 8];
        let mut other = [9u8; 4];
        let source = Data { at: other.as_mut_ptr(), count: 1, datatype: &datatype };
        pml.send(&source, me, 9, Mode::Synchronous, lane()).unwrap();
        assert_eq!(buffer, other);
    }
}

fn lane() -> MatchContext<'static> {
    MatchContext { comm: comm::world(), collective: false }
}

fn content(message: &Message, bytes: usize) -> Vec<u8> {
    let Message { from, to, tag, number, .. } = message;
    let start = (from * 7 + to * 31 + tag * 131) as usize + number * 1031;
    (0..bytes).map(|index| ((start + index).wrapping_mul(2_654_435_761) >> 7) as u8).collect()
}

// Gaps: blocks of 3 bytes, 5 apart; the last block may be shorter.
fn datatype_of(bytes: usize, gaps: bool) -> Datatype {
    let byte = &datatype::borrow(BYTE).expect("MPI_BYTE").layout;
    let layout = match gaps {
        false => Layout::contiguous(bytes, byte),
        true => {
            let blocks: Vec<(isize, usize)> =
                (0..bytes.div_ceil(3)).map(|block| (block as isize * 5, (bytes - block * 3).min(3))).collect();
            Layout::blocks(&blocks, byte)
        }
    };
    let datatype = Datatype::derived(layout.expect("a layout"), datatype::COMBINER_CONTIGUOUS);
    datatype.commit();
    datatype
}

fn place_bytes(bytes: usize, gaps: bool) -> usize {
    if gaps { bytes.div_ceil(3) * 5 } else { bytes }
}

fn place_of(index: usize, gaps: bool) -> usize {
    if gaps { index / 3 * 5 + index % 3 } else { index }
}

fn spread(content: &[u8], buffer: &mut [u8], gaps: bool) {
    content.iter().enumerate().for_each(|(index, byte)| buffer[place_of(index, gaps)] = *byte);
}

fn gather(buffer: &[u8], bytes: usize, gaps: bool) -> Vec<u8> {
    (0..bytes).map(|index| buffer[place_of(index, gaps)]).collect()
}
