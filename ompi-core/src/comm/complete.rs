//! What all communicators need to become complete: matching, and collectives that all members have in common.

use super::Communicator;
use super::create::{self, Draft, Member};
use crate::error::Result;
use crate::framework::{coll, pml};
use crate::group::Group;
use crate::oob::Kind;
use crate::oob::allgather::{Allgather, Participants, block_on};
use crate::process;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::mca::select::{Verdict, record};
use opal_core::sync::{Once, Ordering};

/// A communicator whose peers' contexts are known, while the members agree on their collectives.
///
/// Word i tells what the i-th of the sorted coll components would serve here, recorded in the high half; it serves what
/// all ranks have in common. Two words more are what the modules' choices depend on and its complement: what all have in
/// common of these shows whether it is the same. Then come words of what is forced. One word more of an intercommunicator is this
/// process's context number in its merged intracommunicator, which is completed next.
pub struct Completion {
    comm: Arc<Communicator>,
    // With the component's place.
    candidates: Vec<(usize, &'static str, i32, Arc<dyn coll::Module>)>,
    // How many components there are.
    components: usize,
    gather: Allgather,
    merged: Carrier,
}

/// The merged intracommunicator of an intercommunicator.
enum Carrier {
    /// It is none.
    Itself,
    /// Its members' numbers are being gathered.
    Drafted(Draft),
    /// On its way.
    Begun(Box<Completion>),
}

impl Completion {
    /// Gives it its matching and begins to agree.
    pub fn new(comm: Arc<Communicator>) -> Result<Completion> {
        pml::selected().add_comm(&comm)?;
        let components = components()?;
        let mut candidates = Vec::new();
        let mut words = vec![0u64; components.len()];
        // Who declines agrees with all.
        let mut prints = vec![u64::MAX; 2 * components.len()];
        let mut forced = vec![0; components.len()];
        for (index, component) in components.iter().enumerate() {
            let name = component.info().name;
            match component.query(&comm) {
                Ok((priority, module)) => {
                    words[index] = module.functions() | (module.functions() & module.recordable()) << 32;
                    let print = module.fingerprint();
                    prints[2 * index..][..2].copy_from_slice(&[print, !print]);
                    forced[index] = module.forced();
                    candidates.push((index, name, priority, module));
                }
                Err(mca::Declined(why)) => {
                    opal_core::verbose!(
                        coll::FRAMEWORK,
                        20,
                        "{name} declines a communicator of {} ranks: {why}",
                        comm.size()
                    );
                }
            }
        }
        words.extend(prints);
        words.extend(forced);
        let mut merged = Carrier::Itself;
        if comm.is_inter() {
            let draft = Draft::new(&comm.group)?;
            words.push(draft.number.into());
            merged = Carrier::Drafted(draft);
        }
        let gather = Allgather::about(&comm, Kind::Complete, 0, &words);
        Ok(Completion { comm, candidates, components: components.len(), gather, merged })
    }

    /// Tries to move it on; true when the communicator is complete.
    pub fn poll(&mut self) -> Result<bool> {
        if let Carrier::Begun(merged) = &mut self.merged {
            if !merged.poll()? {
                return Ok(false);
            }
            let merged = merged.comm.clone();
            self.fill(Some(merged.coll()));
            self.comm.both.call_once(|| merged);
            return Ok(true);
        }
        if !self.gather.poll()? {
            return Ok(false);
        }
        match core::mem::replace(&mut self.merged, Carrier::Itself) {
            Carrier::Drafted(draft) => {
                self.merged = Carrier::Begun(Box::new(self.begin_carrier(draft)?));
                self.poll()
            }
            _ => {
                self.fill(None);
                Ok(true)
            }
        }
    }

    /// Waits until it is complete.
    pub fn wait(mut self) -> Result<Arc<Communicator>> {
        block_on(|| self.poll())?;
        Ok(self.comm)
    }

    fn begin_carrier(&self, draft: Draft) -> Result<Completion> {
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
        create::complete(Arc::new(draft.promise(Arc::new(group), None, errhandler)), &members, None)
    }

    fn fill(&mut self, merged: Option<&coll::Table>) {
        let words = self.gather.common();
        let halves = |word: u64| (word & u64::from(u32::MAX), word >> 32);
        let prints = |index: usize| &words[self.components + 2 * index..][..2];
        let candidates = core::mem::take(&mut self.candidates).into_iter();
        let candidates = candidates
            .inspect(|(index, .., module)| {
                // All have the bits of one or those of its complement.
                let agreed = prints(*index).iter().fold(0, |all, print| all | print) == u64::MAX;
                if !agreed {
                    module.disagreed()
                }
            })
            .map(|(index, name, priority, module)| {
                let (functions, recordable) = halves(words[index]);
                let forced = words[3 * self.components + index];
                coll::Candidate { name, priority, functions, recordable, forced, module }
            });
        let candidates = candidates.collect();
        self.comm.coll.call_once(|| {
            let mut table = coll::Table::default();
            table.fill(candidates, merged);
            table
        });
    }
}

/// The coll components that run here, in the one order of all processes of a job (they run the same image).
fn components() -> opal_core::Result<&'static [&'static dyn coll::Component]> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn coll::Component>>> = Once::new();
    let opened = OPENED.call_once(|| {
        let components = mca::open(&coll::FRAMEWORK, &coll::OMPI_COLLS)?;
        components.iter().try_for_each(|component| component.configure())?;
        components.iter().for_each(|component| record(component.info(), Verdict::Chosen(None)));
        Ok(components)
    });
    match opened {
        Ok(components) => Ok(components),
        Err(error) => Err(*error),
    }
}
