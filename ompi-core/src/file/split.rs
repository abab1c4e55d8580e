//! Split collective accesses: begun by one call and ended by another. MPI 5.0 §14.4.5.
//!
//! The first call does all of it, as the standard allows; the second returns what came of it.

use super::call::FileCall;
use super::place::Outcome;
use crate::error::{Class, Fault, Result};
use alloc::format;
use opal_core::sync::ConditionalLock;

/// The one that a file may have.
pub struct SplitAccess(ConditionalLock<Option<Begun>>);

struct Begun {
    call: FileCall,
    buffer: usize,
    outcome: Outcome,
}

impl SplitAccess {
    /// None is under way.
    pub const fn none() -> SplitAccess {
        SplitAccess(ConditionalLock::new(None))
    }

    /// Refuses what must not come between the two calls.
    pub fn none_pending(&self) -> Result<()> {
        match &*self.0.lock() {
            None => Ok(()),
            Some(begun) => {
                let why = format!("a split collective access is under way, begun by {}; end it first", begun.call);
                Err(Fault::new(Class::Io).argument("fh").because(why))
            }
        }
    }

    /// Keeps what came of the first call; what failed at once is said at once, and then none is begun.
    pub fn begin(&self, call: FileCall, buffer: *mut u8, outcome: Outcome) -> Result<()> {
        match outcome.ended {
            Ok(()) => {
                *self.0.lock() = Some(Begun { call, buffer: buffer.addr(), outcome });
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    /// Ends what this call began.
    pub fn end(&self, call: FileCall, buffer: *mut u8) -> Result<Outcome> {
        let mut place = self.0.lock();
        let wrong = match &*place {
            None => Fault::new(Class::Io).argument("fh").because("no split collective access is under way"),
            Some(begun) if begun.call != call => {
                let why = format!("the split collective access under way is another one, begun by {}", begun.call);
                Fault::new(Class::Io).argument("fh").because(why)
            }
            Some(begun) if begun.buffer != buffer.addr() => {
                Fault::new(Class::Buffer).argument("buf").because("it is not the buffer that the access was begun with")
            }
            Some(_) => return place.take().map(|begun| begun.outcome).ok_or_else(|| Class::Intern.into()),
        };
        Err(wrong)
    }
}
