//! What all communicators need to become complete: matching, and collectives that all members have in common.

use super::Communicator;
use super::gather::{Gather, finished};
use super::mail::Kind;
use crate::error::Result;
use crate::framework::{coll, pml};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::mca::select::{Verdict, record};
use opal_core::sync::Once;

/// A communicator whose peers' contexts are known, while the members agree on their collectives.
///
/// Word i tells what the i-th of the sorted coll components would serve here, recorded in the high half; it serves what
/// all ranks have in common.
pub struct Completion {
    comm: Arc<Communicator>,
    // With the component's place.
    offers: Vec<(usize, &'static str, i32, Arc<dyn coll::Module>)>,
    gather: Gather,
}

impl Completion {
    /// Gives it its matching and begins to agree.
    pub fn new(comm: Arc<Communicator>) -> Result<Completion> {
        pml::selected().add_comm(&comm)?;
        let components = components()?;
        let mut offers = Vec::new();
        let mut words = vec![0u64; components.len()];
        for (index, component) in components.iter().enumerate() {
            let name = component.info().name;
            match component.query(&comm) {
                Ok((priority, module)) => {
                    words[index] = module.functions() | (module.functions() & module.recordable()) << 32;
                    offers.push((index, name, priority, module));
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
        let gather = Gather::about(&comm, Kind::Complete, 0, &words);
        Ok(Completion { comm, offers, gather })
    }

    /// Tries to move it on; true when the communicator is complete.
    pub fn poll(&mut self) -> Result<bool> {
        if !self.gather.poll()? {
            return Ok(false);
        }
        let words = self.gather.common();
        let halves = |word: u64| (word & u64::from(u32::MAX), word >> 32);
        let offers = core::mem::take(&mut self.offers).into_iter();
        let offers = offers.map(|(index, name, priority, module)| {
            let (functions, recordable) = halves(words[index]);
            coll::Offer { name, priority, functions, recordable, module }
        });
        let offers = offers.collect();
        self.comm.coll.call_once(|| {
            let mut table = coll::Table::default();
            table.fill(offers);
            table
        });
        Ok(true)
    }

    /// Waits until it is complete.
    pub fn wait(mut self) -> Result<Arc<Communicator>> {
        finished(|| self.poll())?;
        Ok(self.comm)
    }
}

/// The coll components that run here, in the one order of all processes of a job (they run the same image).
fn components() -> opal_core::Result<&'static [&'static dyn coll::Component]> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn coll::Component>>> = Once::new();
    let opened = OPENED.call_once(|| {
        let components = mca::open(&coll::FRAMEWORK, &coll::OMPI_COLLS)?;
        components.iter().for_each(|component| record(component.info(), Verdict::Chosen(None)));
        Ok(components)
    });
    match opened {
        Ok(components) => Ok(components),
        Err(error) => Err(*error),
    }
}
