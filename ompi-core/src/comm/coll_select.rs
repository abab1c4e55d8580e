//! Selection of the components that serve a communicator's collectives.
//!
//! Each member asks its coll components and writes the answers as words, which all members exchange. The bitwise and of all
//! members' words is what they have in common. Of these words there are, for each component:
//!
//! * one with the functions that it would serve here, and in the high half those that it can record;
//! * two with its fingerprint and the complement of that: if all members have the same one, both come out unchanged;
//! * one with the functions for which the user forces it, and in the high half the facts on which its choices depend.

use super::Communicator;
use crate::framework::coll;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::mca::select::{Verdict, record};
use opal_core::sync::Once;

/// The components that would serve a communicator, before its members agree.
pub struct Selection {
    queried: Vec<Queried>,
    // How many components there are, those that decline included.
    components: usize,
}

struct Queried {
    // The component's place among all.
    index: usize,
    name: &'static str,
    priority: i32,
    module: Arc<dyn coll::Module>,
}

impl Selection {
    /// Asks all components. The second value are the words to agree on.
    pub fn query(comm: &Communicator) -> opal_core::Result<(Selection, Vec<u64>)> {
        let components = components()?;
        let mut queried = Vec::new();
        let mut words = vec![0u64; components.len()];
        // A component that declines agrees with every fingerprint.
        let mut fingerprints = vec![u64::MAX; 2 * components.len()];
        let mut forced = vec![0; components.len()];
        for (index, component) in components.iter().enumerate() {
            let name = component.info().name;
            match component.query(comm) {
                Ok((priority, module)) => {
                    words[index] = module.functions() | (module.functions() & module.recordable()) << 32;
                    let fingerprint = module.fingerprint();
                    fingerprints[2 * index..][..2].copy_from_slice(&[fingerprint, !fingerprint]);
                    forced[index] = module.forced() | u64::from(module.local_facts()) << 32;
                    queried.push(Queried { index, name, priority, module });
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
        words.extend(fingerprints);
        words.extend(forced);
        Ok((Selection { queried, components: components.len() }, words))
    }

    /// The table of collectives, from the bits that the words of all members have in common.
    pub fn table(self, words: &[u64], merged: Option<&coll::Table>) -> coll::Table {
        let halves = |word: u64| (word & u64::from(u32::MAX), word >> 32);
        let components = self.components;
        let mut candidates = Vec::new();
        for Queried { index, name, priority, module } in self.queried {
            // All have the bits of one fingerprint or those of its complement.
            let [fingerprint, complement] = [0, 1].map(|half| words[components + 2 * index + half]);
            if fingerprint | complement != u64::MAX {
                module.disagreed();
            }
            let (functions, recordable) = halves(words[index]);
            let (forced, facts) = halves(words[3 * components + index]);
            module.set_common_facts(facts as u32);
            candidates.push(coll::Candidate { name, priority, functions, recordable, forced, module });
        }
        let mut table = coll::Table::default();
        table.fill(candidates, merged);
        table
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
