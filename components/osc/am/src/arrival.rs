//! What origins ask for and cannot have at once: it waits for a lock, for data that comes in messages of its own, or behind such a
//! thing.

use crate::locks::Locks;
use crate::raw::{Buffer, Transfer};
use crate::window::Window;
use crate::wire::{Failure, Head, Kind, SyncKind, Tags};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::datatype::{self, COMBINER_CONTIGUOUS, Datatype};
use ompi_core::error::{Class, Result};
use ompi_core::framework::op::Operation;
use opal_core::datatype::Layout;

/// All that is asked for and not done.
pub struct Arrivals {
    /// By origin.
    pub queues: Vec<VecDeque<Asked>>,
    /// The origins whose queues are not empty.
    pub busy: Vec<usize>,
    /// Whether an origin waits for the lock.
    pub waits_for_lock: Vec<bool>,
    /// Answers that have not left, and to whom. The memory that they are read from must stay as it is.
    pub answers: Vec<(usize, Transfer)>,
    /// The first failure of each origin's accesses since its last flush.
    pub failures: Vec<Option<Failure>>,
    /// Who has this process's memory locked.
    pub locks: Locks,
    /// The datatype that came last by its description: programs that use one do so again and again.
    last_type: Option<(Vec<u8>, Arc<Datatype>)>,
}

/// A thing to do.
pub enum Asked {
    /// It synchronises.
    Sync(SyncKind),
    /// An access.
    Access(Box<Waiting>),
}

/// An access that waits.
pub struct Waiting {
    /// What is asked for.
    pub head: Head,
    /// The datatype of the target's data.
    pub datatype: Result<TargetType>,
    /// The data that came along or has come.
    pub data: Vec<u8>,
    /// The data is at its place.
    pub placed: bool,
    coming: Coming,
}

/// What an access waits for, besides what is before it.
enum Coming {
    Nothing,
    /// The description of the target's datatype, of which nothing is here yet.
    NoDescription,
    /// That description.
    Description(Transfer),
    /// The data, if there is some, of which nothing is here yet.
    NoData,
    /// That data; then whether it comes to its place.
    Data(Transfer, bool),
}

/// A datatype that a record named or described.
pub enum TargetType {
    /// One of the standard's.
    Known(&'static Datatype),
    /// By its description.
    Described(Arc<Datatype>),
}

impl Arrivals {
    /// None.
    pub fn new(ranks: usize) -> Arrivals {
        Arrivals {
            queues: (0..ranks).map(|_| VecDeque::new()).collect(),
            busy: Vec::new(),
            waits_for_lock: alloc::vec![false; ranks],
            answers: Vec::new(),
            failures: alloc::vec![None; ranks],
            locks: Locks::default(),
            last_type: None,
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.busy.is_empty() && self.answers.is_empty()
    }

    /// Whether what an origin asks for now can be done now.
    #[inline]
    pub fn is_ready(&self, origin: usize, sync: Option<SyncKind>) -> bool {
        self.queues[origin].is_empty() && self.may_follow(origin, sync)
    }

    /// Whether it could be done if nothing were before it. Others may write the memory once its lock or its epoch has ended, so these
    /// wait until the origin has what it reads.
    #[inline]
    pub fn may_follow(&self, origin: usize, sync: Option<SyncKind>) -> bool {
        let ends = matches!(sync, Some(SyncKind::Unlock | SyncKind::Complete));
        let is_read = |(to, answer): &(usize, Transfer)| *to == origin && !answer.is_complete();
        !(self.waits_for_lock[origin] || ends && self.answers.iter().any(is_read))
    }

    /// The datatype of an access.
    #[inline]
    pub fn target_type(&mut self, head: &Head, description: &[u8]) -> Result<TargetType> {
        if head.datatype != 0 {
            return TargetType::of(head, description);
        }
        if let Some((known, datatype)) = &self.last_type
            && known == description
        {
            return Ok(TargetType::Described(datatype.clone()));
        }
        let found = TargetType::of(head, description)?;
        if let TargetType::Described(datatype) = &found {
            self.last_type = Some((description.into(), datatype.clone()));
        }
        Ok(found)
    }

    /// Puts a thing behind the others of an origin.
    pub fn push(&mut self, origin: usize, asked: Asked) {
        // While its queue is worked on it is empty, and listed afterwards.
        if self.queues[origin].is_empty() && !self.busy.contains(&origin) {
            self.busy.push(origin);
        }
        self.queues[origin].push_back(asked);
    }
}

impl TargetType {
    /// The datatype.
    pub fn get(&self) -> &Datatype {
        match self {
            TargetType::Known(datatype) => datatype,
            TargetType::Described(datatype) => datatype,
        }
    }

    /// That of an access.
    pub fn of(head: &Head, description: &[u8]) -> Result<TargetType> {
        if head.datatype != 0 {
            let known = datatype::borrow(usize::from(head.datatype));
            let known = known.filter(|known| known.is_predefined() && known.is_committed());
            return known.map(TargetType::Known).ok_or_else(|| Class::Type.into());
        }
        let layout = Layout::of_description(description)?;
        Ok(TargetType::Described(Arc::new(Datatype::derived(layout, COMBINER_CONTIGUOUS))))
    }
}

impl Asked {
    /// Goes on as far as it can without waiting: data may come while what came before is not done.
    pub fn prepare(&mut self, window: &Window, origin: usize) {
        if let Asked::Access(access) = self {
            access.prepare(window, origin);
        }
    }

    /// Whether all that it needs is here.
    pub fn is_here(&self) -> bool {
        match self {
            Asked::Sync(_) => true,
            Asked::Access(access) => matches!(access.coming, Coming::Nothing),
        }
    }

    /// What it is if it synchronises.
    pub fn sync(&self) -> Option<SyncKind> {
        if let Asked::Sync(sync) = self { Some(*sync) } else { None }
    }
}

impl Waiting {
    /// An access as it came. Makes no call of the PML.
    pub fn new(head: Head, description: &[u8], data: &[u8]) -> Waiting {
        let is_named = head.datatype != 0 || !description.is_empty();
        let coming = match (head.apart, is_named) {
            (false, _) => Coming::Nothing,
            (true, false) => Coming::NoDescription,
            (true, true) => Coming::NoData,
        };
        let datatype = TargetType::of(&head, description);
        Waiting { head, datatype, data: data.into(), placed: false, coming }
    }

    fn prepare(&mut self, window: &Window, origin: usize) {
        if let Coming::NoDescription = self.coming {
            self.coming = self.begin_description(window, origin);
        }
        if let Coming::Description(transfer) = &self.coming
            && transfer.is_complete()
            && let Coming::Description(transfer) = core::mem::replace(&mut self.coming, Coming::Nothing)
        {
            self.datatype = transfer.finish().and_then(|description| TargetType::of(&self.head, &description));
            self.coming = Coming::NoData;
        }
        if let Coming::NoData = self.coming {
            self.coming = self.begin_data(window, origin);
        }
        if let Coming::Data(transfer, _) = &self.coming
            && transfer.is_complete()
            && let Coming::Data(transfer, in_place) = core::mem::replace(&mut self.coming, Coming::Nothing)
        {
            match transfer.finish() {
                Ok(data) => (self.data, self.placed) = (data, in_place),
                Err(fault) => self.datatype = Err(fault),
            }
        }
    }

    fn begin_description(&mut self, window: &Window, origin: usize) -> Coming {
        let route = window.route(origin, Tags::of(self.head.number).description);
        match Transfer::receive_any(route) {
            Ok(Some(transfer)) => Coming::Description(transfer),
            Ok(None) => Coming::NoDescription,
            Err(fault) => {
                self.datatype = Err(fault);
                Coming::Nothing
            }
        }
    }

    /// Receives the data that comes in messages of its own: to its place if that is all there is to do.
    fn begin_data(&mut self, window: &Window, origin: usize) -> Coming {
        if self.head.kind == Kind::Get || self.head.operation == Operation::NoOp {
            return Coming::Nothing;
        }
        let begun = self.receive_data(window, origin);
        begun.unwrap_or_else(|fault| {
            self.datatype = Err(fault);
            Coming::Nothing
        })
    }

    fn receive_data(&self, window: &Window, origin: usize) -> Result<Coming> {
        let route = window.route(origin, Tags::of(self.head.number).data);
        let place = match &self.datatype {
            Ok(datatype) => {
                window.memory.place(self.head.displacement, self.head.count, datatype.get()).map(Buffer::in_window)
            }
            Err(fault) => Err(fault.clone()),
        };
        match (self.head.kind, place) {
            (Kind::Put, Ok(place)) => Ok(Coming::Data(place.receive(route)?, true)),
            (_, Ok(place)) => Ok(Coming::Data(Transfer::receive(place.bytes(), route)?, false)),
            // The data is received and thrown away.
            (_, Err(_)) => {
                Ok(Transfer::receive_any(route)?.map_or(Coming::NoData, |transfer| Coming::Data(transfer, false)))
            }
        }
    }
}
