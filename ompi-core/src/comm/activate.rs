//! Activation, the last step of making a communicator: the PML learns of it, and all members agree on its table of
//! collectives.

use super::cid::{Member, Reservation};
use super::coll_select::Selection;
use super::hints::Hints;
use super::{Communicator, insert};
use crate::error::Result;
use crate::framework::pml::watched;
use crate::framework::{coll, pml};
use crate::group::Group;
use crate::oob::Conversation;
use crate::oob::allgather::{Allgather, Participants, finish};
use crate::process;
use crate::sequence::Sequence;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::Ordering;
use opal_core::wait::Subject;

/// A communicator whose peers' contexts are known, while the members agree on their collectives.
///
/// The members gather the words of [`Selection`]. On an intercommunicator one word more is this process's context number
/// in the merged intracommunicator, which is activated next.
pub struct Activation {
    comm: Arc<Communicator>,
    selection: Option<Selection>,
    gather: Allgather,
    merged: Merged,
}

/// The merged intracommunicator of an intercommunicator.
enum Merged {
    /// The communicator is an intracommunicator.
    None,
    /// Its members' context numbers are being gathered.
    Reserved(Reservation),
    /// Under way.
    Activating(Box<Activation>),
}

impl Activation {
    /// Begins for a communicator whose members have told their context numbers.
    pub fn begin(comm: Arc<Communicator>, local: &[Member], remote: Option<&[Member]>) -> Result<Activation> {
        let contexts = |members: &[Member]| members.iter().map(|member| member.context).collect();
        match remote {
            None => comm.set_contexts(contexts(local), Sequence::EMPTY),
            Some(remote) => comm.set_contexts(contexts(remote), contexts(local)),
        }
        Activation::new(comm)
    }

    /// Gives a communicator with known contexts its matching, and begins to agree on its collectives.
    pub fn new(comm: Arc<Communicator>) -> Result<Activation> {
        pml::selected().add_comm(&comm)?;
        watched::add(&comm);
        coll::look_at_verbosity();
        let (selection, mut words) = Selection::query(&comm)?;
        let mut merged = Merged::None;
        if comm.is_inter() {
            let reservation = Reservation::new(&comm.group)?;
            words.push(reservation.number.into());
            merged = Merged::Reserved(reservation);
        }
        let gather = Allgather::about(&comm, Conversation::Activation, 0, &words);
        Ok(Activation { comm, selection: Some(selection), gather, merged })
    }

    /// Tries to move it on; true when the communicator is active.
    pub fn poll(&mut self) -> Result<bool> {
        if let Merged::Activating(merged) = &mut self.merged {
            if !merged.poll()? {
                return Ok(false);
            }
            let merged = merged.comm.clone();
            self.fill(Some(merged.coll()));
            self.comm.merged.call_once(|| merged);
            return Ok(true);
        }
        if !self.gather.poll()? {
            return Ok(false);
        }
        match core::mem::replace(&mut self.merged, Merged::None) {
            Merged::Reserved(reservation) => {
                self.merged = Merged::Activating(Box::new(self.begin_merged(reservation)?));
                self.poll()
            }
            _ => {
                self.fill(None);
                Ok(true)
            }
        }
    }

    /// Waits until the communicator is active.
    pub fn wait(mut self) -> Result<Arc<Communicator>> {
        finish(&mut self, Activation::poll, Activation::subject)?;
        Ok(self.comm)
    }

    /// What the next step waits for.
    pub fn subject(&self) -> Subject {
        match &self.merged {
            Merged::Activating(merged) => merged.subject(),
            _ => self.gather.subject(),
        }
    }

    fn begin_merged(&self, reservation: Reservation) -> Result<Activation> {
        let number = self.gather.width() - 1;
        let members: Vec<Member> = Participants::of(&self.comm)
            .all
            .iter()
            .zip(self.gather.word(number))
            .map(|(participant, word)| Member { context: word as u32, ..*participant })
            .collect();
        let processes = members.iter().map(|member| member.process).collect();
        let group = Group::new(processes, process::me().index).in_session(self.comm.group.session());
        let errhandler = self.comm.errhandler.load(Ordering::Relaxed);
        Activation::begin(Arc::new(reservation.pending(Arc::new(group), None, errhandler)), &members, None)
    }

    fn fill(&mut self, merged: Option<&coll::Table>) {
        if let Some(selection) = self.selection.take() {
            self.comm.coll.call_once(|| selection.table(&self.gather.common(), merged));
        }
    }
}

impl Reservation {
    /// The communicator of these members, without collectives yet. `remote` makes it an intercommunicator.
    fn begin(
        self,
        local: &[Member],
        remote: Option<&[Member]>,
        errhandler: usize,
        hints: &Hints,
    ) -> Result<Activation> {
        let session = self.session;
        let group = |members: &[Member]| {
            let processes = members.iter().map(|member| member.process).collect();
            Arc::new(Group::new(processes, process::me().index).in_session(session))
        };
        let comm = self.pending(group(local), remote.map(group), errhandler);
        comm.hints.take_known(hints);
        Activation::begin(Arc::new(comm), local, remote)
    }

    /// Waits for the activation of the communicator of these members and gives it a handle; `None` if a group of an
    /// intercommunicator has no members.
    pub fn activate(
        self,
        local: Vec<Member>,
        remote: Option<Vec<Member>>,
        errhandler: usize,
        hints: Hints,
    ) -> Result<Option<usize>> {
        self.activate_hidden(local, remote, errhandler, hints)?.map(insert).transpose()
    }

    /// As [`Reservation::activate`], without a handle.
    pub fn activate_hidden(
        self,
        local: Vec<Member>,
        remote: Option<Vec<Member>>,
        errhandler: usize,
        hints: Hints,
    ) -> Result<Option<Arc<Communicator>>> {
        if remote.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        self.begin(&local, remote.as_deref(), errhandler, &hints)?.wait().map(Some)
    }
}
