//! Messages of recorded schedules in one thread: a seeded hand decides which one arrives next.

use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::schedule::Port;
use opal_core::datatype::Convertor;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// A source of numbers that is the same for the same seed.
pub struct Dice(u64);

impl Dice {
    /// Any seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 0 to `limit` - 1.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

/// From, to, tag.
type MatchContext = (usize, usize, i32);

#[derive(Default)]
struct State {
    // Messages in the order of their sending, receives in that of their posting. Both are packed and unpacked when they
    // meet, as late as may be, so that a premature reuse of a buffer shows.
    sends: BTreeMap<MatchContext, VecDeque<(usize, Convertor)>>,
    recvs: BTreeMap<MatchContext, VecDeque<(usize, Convertor)>>,
    ended: Vec<Option<Result<()>>>,
}

/// The network of one test.
#[derive(Default)]
pub struct Net {
    state: RefCell<State>,
    hasty: bool,
    // The next message goes to the wrong rank: the one after the right one.
    astray: Cell<bool>,
    // The next message of several ints begins with its second one, as if taken from a wrong offset.
    displaced: Cell<bool>,
}

impl Net {
    /// An empty one. `hasty`, `astray` and `displaced` are mistakes: everything counts as done at once; the first message
    /// goes to the rank after the right one; the first of several ints begins with the second one, and ends with the first.
    pub fn new(hasty: bool, astray: bool, displaced: bool) -> Net {
        Net { hasty, astray: Cell::new(astray), displaced: Cell::new(displaced), ..Net::default() }
    }

    /// Lets one message arrive, whichever the dice choose; false if none can.
    pub fn deliver(&self, dice: &mut Dice) -> bool {
        let mut state = self.state.borrow_mut();
        let State { sends, recvs, ended } = &mut *state;
        let waiting = |queues: &BTreeMap<MatchContext, VecDeque<_>>, lane: &MatchContext| {
            queues.get(lane).is_some_and(|q| !q.is_empty())
        };
        let ready: Vec<MatchContext> =
            sends.keys().filter(|lane| waiting(sends, lane) && waiting(recvs, lane)).copied().collect();
        if ready.is_empty() {
            return false;
        }
        let lane = ready[dice.below(ready.len())];
        let (sent, mut out) = sends.get_mut(&lane).unwrap().pop_front().unwrap();
        let (received, mut into) = recvs.get_mut(&lane).unwrap().pop_front().unwrap();
        let mut bytes = vec![0; out.total()];
        // SAFETY: room for all of it; the tests' buffers outlive the runs.
        unsafe { out.pack(bytes.as_mut_ptr(), bytes.len()) };
        if bytes.len() >= 8 && self.displaced.take() {
            bytes.rotate_left(4);
        }
        ended[sent] = Some(Ok(()));
        let fits = bytes.len() == into.total();
        let wrong =
            || Fault::new(Class::Truncate).because(format!("{} bytes instead of {}", bytes.len(), into.total()));
        ended[received] = Some(if fits { Ok(()) } else { Err(wrong()) });
        let length = bytes.len().min(into.total());
        // SAFETY: as long as the message at most.
        unsafe { into.unpack(bytes.as_ptr(), length) };
        true
    }

    /// Messages sent or awaited that never met.
    pub fn left_over(&self) -> usize {
        let state = self.state.borrow();
        [&state.sends, &state.recvs].iter().flat_map(|queues| queues.values()).map(VecDeque::len).sum()
    }

    fn begin(&self, data: &Data<'_>, lane: MatchContext, send: bool) -> usize {
        let mut state = self.state.borrow_mut();
        let number = state.ended.len();
        state.ended.push(None);
        let queues = if send { &mut state.sends } else { &mut state.recvs };
        // SAFETY: the tests' buffers outlive the runs.
        queues.entry(lane).or_default().push_back((number, unsafe { data.convertor() }));
        number
    }
}

/// One rank's end of the network for one operation.
pub struct Wire<'a> {
    /// The network.
    pub net: &'a Net,
    /// Whose end.
    pub rank: usize,
    /// Of all messages of the operation.
    pub tag: i32,
}

impl Port for Wire<'_> {
    type Message = usize;

    unsafe fn send(&self, data: &Data<'_>, to: usize) -> Result<Option<usize>> {
        let to = if self.net.astray.take() { to + 1 } else { to };
        Ok(Some(self.net.begin(data, (self.rank, to, self.tag), true)))
    }

    unsafe fn recv(&self, data: &Data<'_>, from: usize) -> Result<Option<usize>> {
        Ok(Some(self.net.begin(data, (from, self.rank, self.tag), false)))
    }

    fn has_ended(&self, message: &usize) -> bool {
        self.net.hasty || self.net.state.borrow().ended[*message].is_some()
    }

    fn end(&self, message: usize) -> Result<()> {
        self.net.state.borrow_mut().ended[message].take().unwrap_or(Ok(()))
    }
}
