//! Accesses of this process under way whose data or result comes in messages of their own.

use crate::raw::Transfer;
use crate::wire::Failure;
use alloc::vec::Vec;
use ompi_core::error::Result;
use ompi_core::request::Id;

/// Accesses with messages of their own that are not complete here.
#[derive(Default)]
pub struct AllPending {
    /// In any order.
    pub all: Vec<Pending>,
    // Which of them to look at next.
    next: usize,
    /// Reads that ranks refused, by number. It may come before the access is in the list.
    pub refused: Vec<(usize, u32, Failure)>,
}

/// One of them.
pub struct Pending {
    /// Its target.
    pub rank: usize,
    /// What has not ended.
    pub messages: Messages,
    /// Its request.
    pub request: Option<Id>,
}

/// Those of an access.
#[derive(Default)]
pub struct Messages {
    /// What was read, with the number of the access. It does not come if the target refuses.
    pub result: Option<(u32, Transfer)>,
    /// All that is sent.
    pub sent: Vec<Transfer>,
}

impl AllPending {
    /// Takes accesses out whose messages have ended, with what the target said if it refused.
    pub fn take_ended(&mut self) -> Vec<(Pending, Option<Failure>)> {
        let mut ended = Vec::new();
        for _ in 0..SWEEP.min(self.all.len()) {
            if self.next >= self.all.len() {
                self.next = 0;
            }
            let Some(access) = self.all.get(self.next) else { break };
            let refusal = access.messages.result.as_ref().and_then(|(number, _)| {
                self.refused.iter().position(|(rank, refused, _)| (*rank, *refused) == (access.rank, *number))
            });
            if !access.messages.are_over(refusal.is_some()) {
                self.next += 1;
                continue;
            }
            let refusal = refusal.map(|place| self.refused.swap_remove(place).2);
            ended.push((self.all.swap_remove(self.next), refusal));
        }
        ended
    }
}

impl Messages {
    /// Forgets those that have ended; whether all have.
    pub fn drop_ended(&mut self) -> Result<bool> {
        if let Some((_, result)) = self.result.take_if(|(_, result)| result.is_complete()) {
            result.finish()?;
        }
        for transfer in self.sent.extract_if(.., |transfer| transfer.is_complete()) {
            transfer.finish()?;
        }
        Ok(self.result.is_none() && self.sent.is_empty())
    }

    /// Whether all have ended that will.
    fn are_over(&self, refused: bool) -> bool {
        let result = self.result.iter().all(|(_, result)| refused || result.is_complete());
        result && self.sent.iter().all(Transfer::is_complete)
    }

    /// Ends them. The first error of one.
    pub fn finish(self, refused: bool) -> Result<()> {
        let result = self.result.map_or(Ok(()), |(_, result)| match refused {
            true => result.cancel(),
            false => result.finish().map(drop),
        });
        self.sent.into_iter().map(|transfer| transfer.finish().map(drop)).fold(result, Result::and)
    }
}

/// Accesses that a pass of progress looks at: all of them would make many under way at once cost their square.
const SWEEP: usize = 64;
