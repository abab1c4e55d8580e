//! What origins ask for, in their order: each is a head, perhaps data that still comes, and then something to do.

use crate::locks::Locks;
use crate::raw::{Buffer, Transfer};
use crate::window::Window;
use crate::wire::{HEAD_TAG, Head, Kind};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use ompi_core::datatype::{self, COMBINER_CONTIGUOUS, Datatype};
use ompi_core::error::{Class, Result};
use opal_core::datatype::Layout;

/// All that is asked for and not done.
pub struct Arrivals {
    /// By origin.
    pub queues: Vec<VecDeque<Arrival>>,
    /// The origins whose queues are not empty.
    pub busy: Vec<usize>,
    /// Answers that have not left, and to whom. The memory that they are read from must stay as it is.
    pub answers: Vec<(usize, Transfer)>,
    /// The code of the first failure of each origin's accesses since its last flush; 0 if there is none.
    pub faults: Vec<i32>,
    /// Who has this process's memory locked.
    pub locks: Locks,
}

impl Arrivals {
    /// None.
    pub fn new(ranks: usize) -> Arrivals {
        Arrivals {
            queues: (0..ranks).map(|_| VecDeque::new()).collect(),
            busy: Vec::new(),
            answers: Vec::new(),
            faults: alloc::vec![0; ranks],
            locks: Locks::default(),
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.busy.is_empty() && self.answers.is_empty()
    }

    /// Whether the first thing that an origin asks for can be done now. Others may write the memory once its lock or its epoch
    /// has ended, so these wait until the origin has what it reads.
    pub fn is_next_ready(&self, origin: usize, next: &Arrival) -> bool {
        match next {
            Arrival::Coming(_) => false,
            Arrival::Asked(asked) if matches!(asked.head.kind, Kind::Unlock | Kind::Complete) => {
                !self.answers.iter().any(|(to, answer)| *to == origin && !answer.is_complete())
            }
            Arrival::Asked(asked) => asked.coming.is_none(),
            Arrival::Malformed => true,
        }
    }

    /// Puts a message of an origin behind its others.
    pub fn push(&mut self, origin: usize, head: Transfer) {
        if self.queues[origin].is_empty() {
            self.busy.push(origin);
        }
        self.queues[origin].push_back(Arrival::Coming(head));
    }
}

/// One thing that is asked for.
pub enum Arrival {
    /// Its head comes.
    Coming(Transfer),
    /// Its head is here.
    Asked(Box<Asked>),
    /// It was no message of ours.
    Malformed,
}

/// A thing to do.
pub struct Asked {
    /// Its head.
    pub head: Head,
    /// Of an access: the datatype of the target's data; `Err` with the class of what is wrong with it.
    pub datatype: core::result::Result<Told, i32>,
    /// The data that came along or has come.
    pub data: Vec<u8>,
    /// Data that comes; then whether it comes to its place.
    coming: Option<(Transfer, bool)>,
    /// The data is at its place.
    pub placed: bool,
}

/// A datatype that a message named or described.
pub enum Told {
    /// One of the standard's.
    Known(&'static Datatype),
    /// By its description.
    Described(Box<Datatype>),
}

impl Told {
    /// The datatype.
    pub fn get(&self) -> &Datatype {
        match self {
            Told::Known(datatype) => datatype,
            Told::Described(datatype) => datatype,
        }
    }

    fn of(head: &Head, description: &[u8]) -> Result<Told> {
        if head.datatype != 0 {
            let known = datatype::borrow(head.datatype as usize);
            let known = known.filter(|known| known.is_predefined() && known.is_committed());
            return known.map(Told::Known).ok_or_else(|| Class::Type.into());
        }
        let layout = Layout::of_description(description)?;
        Ok(Told::Described(Box::new(Datatype::derived(layout, COMBINER_CONTIGUOUS))))
    }
}

impl Arrival {
    /// Goes on as far as it can without waiting: data may come while what came before is not done.
    pub fn prepare(&mut self, window: &Window, origin: usize) {
        if let Arrival::Coming(transfer) = self
            && transfer.is_complete()
        {
            let Arrival::Coming(transfer) = core::mem::replace(self, Arrival::Malformed) else { return };
            let message = transfer.finish().unwrap_or_default();
            if let Some((head, description, data)) = Head::decode(&message) {
                *self = Arrival::Asked(Box::new(Asked::new(window, origin, head, description, data)));
            }
        }
        if let Arrival::Asked(asked) = self {
            asked.take_data();
        }
    }
}

impl Asked {
    fn new(window: &Window, origin: usize, head: Head, description: &[u8], data: &[u8]) -> Asked {
        let is_access =
            matches!(head.kind, Kind::Put | Kind::Get | Kind::Accumulate | Kind::GetAccumulate | Kind::CompareAndSwap);
        let datatype = match is_access {
            true => Told::of(&head, description).and_then(|told| {
                window.memory.place(head.displacement, head.count, told.get())?;
                Ok(told)
            }),
            false => Err(Class::Intern.into()),
        };
        let datatype = datatype.map_err(|fault| fault.get());
        let mut asked = Asked { head, datatype, data: data.into(), coming: None, placed: false };
        if head.data_tag != HEAD_TAG {
            match asked.receive(window, origin) {
                Ok(coming) => asked.coming = Some(coming),
                Err(fault) => asked.datatype = Err(fault.get()),
            }
        }
        asked
    }

    /// Receives the data that follows: to its place if that is all there is to do.
    fn receive(&self, window: &Window, origin: usize) -> Result<(Transfer, bool)> {
        let route = window.route(origin, self.head.data_tag);
        if let (Kind::Put, Ok(told)) = (self.head.kind, &self.datatype) {
            let place = window.memory.place(self.head.displacement, self.head.count, told.get())?;
            let place = Buffer::in_window(place);
            if place.bytes() as u64 == self.head.bytes {
                return Ok((place.receive(route)?, true));
            }
        }
        let bytes = usize::try_from(self.head.bytes).map_err(|_| Class::NoMem)?;
        Ok((Transfer::receive(bytes, route)?, false))
    }

    fn take_data(&mut self) {
        if self.coming.as_ref().is_some_and(|(transfer, _)| transfer.is_complete())
            && let Some((transfer, in_place)) = self.coming.take()
        {
            self.placed = in_place;
            match transfer.finish() {
                Ok(data) => self.data = data,
                Err(fault) => self.datatype = Err(fault.get()),
            }
        }
    }
}
