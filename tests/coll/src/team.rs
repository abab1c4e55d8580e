//! An executor whose messages are byte strings in shared queues.

use ompi_core::data::{self, Data, Room};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::op::Op;
use opal_core::datatype::Convertor;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The ranks of one test and the messages between them.
pub struct Team {
    size: usize,
    patience: Duration,
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
}

/// A mistake that a member makes on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// None.
    None,
    /// The message with this number, counted over this member's sends, goes to the rank after the right one.
    WrongPartner(usize),
    /// Operands of reductions change places.
    SwappedOperands,
}

impl Team {
    /// A team; who waits longer than `patience` for a message fails.
    pub fn new(size: usize, patience: Duration) -> Team {
        Team { size, patience, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Messages that nobody received.
    pub fn left_over(&self) -> usize {
        self.state.lock().unwrap().queues.values().map(VecDeque::len).sum()
    }

    fn push(&self, from: usize, to: usize, message: Vec<u8>) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.queues.entry((from, to)).or_default().push_back(message);
        self.changed.notify_all();
        let sent = state.sent.entry((from, to)).or_default();
        *sent += 1;
        *sent
    }

    fn wait<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> Result<T> {
        let mut state = self.state.lock().unwrap();
        loop {
            if state.failed {
                return Err(Fault::new(Class::Other).because("another rank failed"));
            }
            if let Some(value) = ready(&mut state) {
                self.changed.notify_all();
                return Ok(value);
            }
            let (next, timeout) = self.changed.wait_timeout(state, self.patience).unwrap();
            state = next;
            if timeout.timed_out() {
                state.failed = true;
                self.changed.notify_all();
                return Err(Fault::new(Class::Other).because("no message came: deadlock"));
            }
        }
    }
}

/// One rank. Sends are synchronous: an algorithm that counts on buffering deadlocks here.
pub struct Member<'a> {
    team: &'a Team,
    rank: usize,
    /// What it does wrong.
    pub flaw: Flaw,
    sends: usize,
    outgoing: Vec<(Convertor, usize)>,
    incoming: Vec<(Convertor, usize)>,
    rooms: Vec<Room>,
}

impl<'a> Member<'a> {
    /// The rank of a team.
    pub fn new(team: &'a Team, rank: usize) -> Member<'a> {
        Member { team, rank, flaw: Flaw::None, sends: 0, outgoing: Vec::new(), incoming: Vec::new(), rooms: Vec::new() }
    }

    fn convertor(data: &Data<'_>) -> Convertor {
        // SAFETY: tests pass buffers that outlive the call.
        unsafe { data.convertor() }
    }

    fn dispatch(&mut self, mut convertor: Convertor, to: usize) -> (usize, u64) {
        let wrong = self.flaw == Flaw::WrongPartner(self.sends);
        self.sends += 1;
        let to = if wrong { (to + 1) % self.team.size } else { to };
        let mut message = vec![0; convertor.total()];
        // SAFETY: room for all of it.
        unsafe { convertor.pack(message.as_mut_ptr(), message.len()) };
        (to, self.team.push(self.rank, to, message))
    }

    fn accept(&mut self, mut convertor: Convertor, from: usize) -> Result<()> {
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

    fn until_taken(&mut self, (to, number): (usize, u64)) -> Result<()> {
        let pair = (self.rank, to);
        self.team.wait(|state| (state.taken.get(&pair).copied().unwrap_or(0) >= number).then_some(()))
    }
}

impl Executor for Member<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.team.size
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        let sent = self.dispatch(Self::convertor(data), to);
        self.until_taken(sent)
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.accept(Self::convertor(data), from)
    }

    // What is started touches its buffer as late as it may, so that a premature reuse shows.
    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.outgoing.push((Self::convertor(data), to));
        Ok(())
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.incoming.push((Self::convertor(data), from));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let outgoing = std::mem::take(&mut self.outgoing);
        let sent: Vec<_> = outgoing.into_iter().map(|(convertor, to)| self.dispatch(convertor, to)).collect();
        for (convertor, from) in std::mem::take(&mut self.incoming) {
            self.accept(convertor, from)?;
        }
        sent.into_iter().try_for_each(|sent| self.until_taken(sent))
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
        // SAFETY: tests pass valid buffers.
        unsafe { data::copy(from, to) }
    }

    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()> {
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

    fn room<'d>(&mut self, like: &Data<'d>) -> Result<Data<'d>> {
        let mut room = Room::new(like.count, like.datatype)?;
        let data = Data { at: room.at(), ..*like };
        self.rooms.push(room);
        Ok(data)
    }
}
