//! An executor whose messages are byte strings in shared queues.

use ompi_core::data::{self, Data, Room};
use ompi_core::datatype;
use ompi_core::error::{self, Class, Fault};
use ompi_core::executor::Executor;
use ompi_core::op::Op;
use opal_core::datatype::Convertor;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex};

/// The ranks of one test and the messages between them.
pub struct Team {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queues: HashMap<(usize, usize), VecDeque<Vec<u8>>>,
    // Messages ever taken, per pair: a send is complete when its number is.
    sent: HashMap<(usize, usize), u64>,
    taken: HashMap<(usize, usize), u64>,
    failed: bool,
    // Messages sent and taken so far; ranks that have looked since the last one and wait for the next; ranks that have ended.
    version: u64,
    waiting: usize,
    ended: usize,
}

impl State {
    fn changed(&mut self) {
        self.version += 1;
        self.waiting = 0;
    }

    fn is_stuck(&self, size: usize) -> bool {
        self.waiting > 0 && self.waiting + self.ended >= size
    }
}

/// A mistake that a member makes on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// None.
    None,
    /// The message with this number, counted over this member's sends, goes to the rank after the right one.
    WrongPartner(usize),
    /// The message with this number begins with its second `int`, as if taken from a wrong offset, and ends with its first.
    WrongOffset(usize),
    /// Operands of reductions change places.
    SwappedOperands,
}

/// What became of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// There was no such message.
    No,
    /// The message has no second `int`.
    Vain,
    /// It was made.
    Yes,
}

/// Runs `each` on every rank, which makes the mistake that `flaw` says: what was wrong, and what became of the mistakes.
pub fn run(
    size: usize,
    flaw: impl Fn(usize) -> Flaw,
    each: impl Fn(&mut Member<'_>) -> Result<(), String> + Sync,
) -> (Result<(), String>, Vec<Made>) {
    datatype::open();
    opal_core::sync::raise_threads();
    let team = Team::new(size);
    let (outcomes, made): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
        let (each, team) = (&each, &team);
        let start = |rank| {
            let mut member = Member::new(team, rank);
            member.flaw = flaw(rank);
            scope.spawn(move || {
                let outcome = each(&mut member).map_err(|what| format!("rank {rank} of {size}: {what}"));
                (outcome, member.made)
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).unzip()
    });
    let outcome = outcomes.into_iter().collect::<Result<(), String>>().and_then(|()| match team.left_over() {
        0 => Ok(()),
        number => Err(format!("{number} messages were never received")),
    });
    (outcome, made)
}

/// Each message of each rank goes to a wrong rank, and comes from a wrong offset, one at a time: the mistakes that nothing
/// shows, as (rank, number of its message), and how many were made. What has no second `int` has no wrong offset.
pub fn unnoticed(
    size: usize,
    flaw: fn(usize) -> Flaw,
    each: impl Fn(&mut Member<'_>) -> Result<(), String> + Sync,
) -> (Vec<(usize, usize)>, usize) {
    let (mut unnoticed, mut number) = (Vec::new(), 0);
    for rank in 0..size {
        for message in 0.. {
            let (outcome, made) = run(size, |this| if this == rank { flaw(message) } else { Flaw::None }, &each);
            match made[rank] {
                Made::No => break,
                Made::Vain => continue,
                Made::Yes => number += 1,
            }
            if outcome.is_ok() {
                unnoticed.push((rank, message));
            }
        }
    }
    (unnoticed, number)
}

impl Team {
    /// A team. A rank that waits when none can send any more fails.
    pub fn new(size: usize) -> Team {
        Team { size, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Messages that nobody received.
    pub fn left_over(&self) -> usize {
        self.state.lock().unwrap().queues.values().map(VecDeque::len).sum()
    }

    fn push(&self, from: usize, to: usize, message: Vec<u8>) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.queues.entry((from, to)).or_default().push_back(message);
        state.changed();
        self.changed.notify_all();
        let sent = state.sent.entry((from, to)).or_default();
        *sent += 1;
        *sent
    }

    fn wait<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> error::Result<T> {
        let mut state = self.state.lock().unwrap();
        loop {
            if state.failed {
                return Err(Fault::new(Class::Other).because("another rank failed"));
            }
            if let Some(value) = ready(&mut state) {
                state.changed();
                self.changed.notify_all();
                return Ok(value);
            }
            state.waiting += 1;
            if state.is_stuck(self.size) {
                state.failed = true;
                self.changed.notify_all();
                return Err(Fault::new(Class::Other).because("no message can come any more: deadlock"));
            }
            let seen = state.version;
            state = self.changed.wait_while(state, |state| state.version == seen && !state.failed).unwrap();
        }
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap();
        state.ended += 1;
        if state.is_stuck(self.size) {
            state.failed = true;
            self.changed.notify_all();
        }
    }
}

/// One rank. Sends are synchronous: an algorithm that counts on buffering deadlocks here.
pub struct Member<'a> {
    team: &'a Team,
    rank: usize,
    /// What it does wrong.
    pub flaw: Flaw,
    /// What became of it.
    pub made: Made,
    sends: usize,
    outgoing: Vec<(Convertor, usize)>,
    incoming: Vec<(Convertor, usize)>,
    rooms: Vec<Room>,
}

impl<'a> Member<'a> {
    /// The rank of a team.
    pub fn new(team: &'a Team, rank: usize) -> Member<'a> {
        let (flaw, made) = (Flaw::None, Made::No);
        Member { team, rank, flaw, made, sends: 0, outgoing: Vec::new(), incoming: Vec::new(), rooms: Vec::new() }
    }

    fn convertor(data: &Data<'_>) -> Convertor {
        // SAFETY: tests pass buffers that outlive the call.
        unsafe { data.convertor() }
    }

    fn dispatch(&mut self, mut convertor: Convertor, to: usize) -> (usize, u64) {
        let (astray, displaced) = (Flaw::WrongPartner(self.sends), Flaw::WrongOffset(self.sends));
        self.sends += 1;
        let mut message = vec![0; convertor.total()];
        // SAFETY: room for all of it.
        unsafe { convertor.pack(message.as_mut_ptr(), message.len()) };
        let to = if self.flaw == astray { (to + 1) % self.team.size } else { to };
        if self.flaw == astray {
            self.made = Made::Yes;
        } else if self.flaw == displaced {
            self.made = if message.len() < 8 { Made::Vain } else { Made::Yes };
            let by = message.len().min(4);
            message.rotate_left(by);
        }
        (to, self.team.push(self.rank, to, message))
    }

    fn accept(&mut self, mut convertor: Convertor, from: usize) -> error::Result<()> {
        let pair = (from, self.rank);
        let message = self.team.wait(|state| {
            let message = state.queues.get_mut(&pair)?.pop_front()?;
            *state.taken.entry(pair).or_default() += 1;
            Some(message)
        })?;
        if message.len() != convertor.total() {
            let reason = format!("{} bytes came from {from} instead of {}", message.len(), convertor.total());
            return Err(Fault::new(Class::Truncate).because(reason));
        }
        // SAFETY: as long as the message.
        unsafe { convertor.unpack(message.as_ptr(), message.len()) };
        Ok(())
    }

    fn until_taken(&mut self, (to, number): (usize, u64)) -> error::Result<()> {
        let pair = (self.rank, to);
        self.team.wait(|state| (state.taken.get(&pair).copied().unwrap_or(0) >= number).then_some(()))
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.team.end();
    }
}

impl Executor for Member<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.team.size
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> error::Result<()> {
        let sent = self.dispatch(Self::convertor(data), to);
        self.until_taken(sent)
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> error::Result<()> {
        self.accept(Self::convertor(data), from)
    }

    // What is started touches its buffer as late as it may, so that a premature reuse shows.
    fn start_send(&mut self, data: &Data<'_>, to: usize) -> error::Result<()> {
        self.outgoing.push((Self::convertor(data), to));
        Ok(())
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> error::Result<()> {
        self.incoming.push((Self::convertor(data), from));
        Ok(())
    }

    fn finish(&mut self) -> error::Result<()> {
        let outgoing = std::mem::take(&mut self.outgoing);
        let sent: Vec<_> = outgoing.into_iter().map(|(convertor, to)| self.dispatch(convertor, to)).collect();
        for (convertor, from) in std::mem::take(&mut self.incoming) {
            self.accept(convertor, from)?;
        }
        sent.into_iter().try_for_each(|sent| self.until_taken(sent))
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> error::Result<()> {
        // SAFETY: tests pass valid buffers.
        unsafe { data::copy(from, to) }
    }

    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> error::Result<()> {
        assert_eq!(input.count, inout.count);
        if self.flaw != Flaw::SwappedOperands {
            // SAFETY: tests pass valid buffers.
            return unsafe { op.reduce(input.at, inout.at, inout.count, inout.datatype) };
        }
        let (mut first, mut second) =
            (Room::new(inout.count, inout.datatype)?, Room::new(inout.count, inout.datatype)?);
        let (first, second) = (Data { at: first.at(), ..*inout }, Data { at: second.at(), ..*inout });
        self.copy(inout, &first)?;
        self.copy(input, &second)?;
        // SAFETY: own rooms.
        unsafe { op.reduce(first.at, second.at, inout.count, inout.datatype) }?;
        self.copy(&second, inout)
    }

    fn scratch<'d>(&mut self, like: &Data<'d>) -> error::Result<Data<'d>> {
        let mut room = Room::new(like.count, like.datatype)?;
        let data = Data { at: room.at(), ..*like };
        self.rooms.push(room);
        Ok(data)
    }
}
