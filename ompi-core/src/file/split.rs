//! Split collective accesses: begun by one call and ended by another. MPI 5.0 §14.4.5.
//!
//! The first call does all of it, as the standard allows; the second returns what came of it.

use super::transfer::Outcome;
use crate::error::{Class, Fault, Result};
use alloc::format;
use opal_core::sync::ConditionalLock;

/// Which function began it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitCall {
    /// MPI_File_read_at_all_begin.
    ReadAt,
    /// MPI_File_write_at_all_begin.
    WriteAt,
    /// MPI_File_read_all_begin.
    Read,
    /// MPI_File_write_all_begin.
    Write,
    /// MPI_File_read_ordered_begin.
    ReadOrdered,
    /// MPI_File_write_ordered_begin.
    WriteOrdered,
}

/// The one that a file may have.
pub struct SplitAccess(ConditionalLock<Option<Begun>>);

struct Begun {
    call: SplitCall,
    buffer: usize,
    outcome: Outcome,
}

impl SplitAccess {
    /// None is under way.
    pub const fn none() -> SplitAccess {
        SplitAccess(ConditionalLock::new(None))
    }

    /// Begins one; what failed at once is said at once, and then none is begun.
    pub fn begin(&self, call: SplitCall, buffer: *mut u8, access: impl FnOnce() -> Outcome) -> Result<()> {
        if let Some(begun) = &*self.0.lock() {
            let why = format!("a split collective access is under way ({:?}); end it first", begun.call);
            return Err(Fault::new(Class::Io).argument("fh").because(why));
        }
        let outcome = access();
        match outcome.ended {
            Ok(()) => {
                *self.0.lock() = Some(Begun { call, buffer: buffer.addr(), outcome });
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    /// Ends it.
    pub fn end(&self, call: SplitCall, buffer: *mut u8) -> Result<Outcome> {
        let mut place = self.0.lock();
        let wrong = match &*place {
            None => Fault::new(Class::Io).argument("fh").because("no split collective access is under way"),
            Some(begun) if begun.call != call => {
                let why = format!("the split collective access under way is another one ({:?})", begun.call);
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
