//! Two ranks: the protocol of their flags.
//!
//! In each epoch both ranks set their flag: a rank that writes after its data is there, a rank that only reads after it has
//! read. The flags and values of both lie in one cache line, which moves between the cores once per operation.
//!
//! Before a rank writes with a parity again it waits for the flag that frees it, which it remembers as `pending_ack`
//! (docs/architecture/collectives-in-shared-memory.md).

use crate::flags::segment::{Flag, OPERATIONS_PER_PASS, Pattern, Segment};
use crate::peer::Peer;
use crate::word;
use ompi_core::error::Result;
use opal_core::progress;
use opal_core::sync::Ordering;

impl Segment {
    /// Begins the next epoch of two ranks, in which each that writes writes `bytes`; its number.
    #[inline]
    pub fn begin_pair(&self, pattern: Pattern, bytes: usize) -> Result<u64> {
        progress::flush();
        let mut state = self.state.lock();
        let epoch = state.epoch + 1;
        state.epoch = epoch;
        let parity = (epoch & 1) as usize;
        let (pending_ack, waits) = match pattern {
            // The peer has read the data of this epoch when it comes to the next one.
            Pattern::AllToAll => (if bytes > 0 { epoch + 1 } else { 0 }, true),
            Pattern::OneToAll(root) if root != self.rank => (0, true),
            Pattern::AllToOne(root) if root == self.rank => (0, true),
            // The reader's flag of the same epoch. Two ranks never scan here: it is a message.
            Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::Scan => (epoch, false),
        };
        let pending_ack = core::mem::replace(&mut state.pending_ack[parity], pending_ack);
        if waits && state.pending_ack[1 - parity] == epoch {
            // This operation waits for that flag anyway, and so loads the line once less.
            state.pending_ack[1 - parity] = 0;
        }
        drop(state);
        if epoch.is_multiple_of(OPERATIONS_PER_PASS) {
            progress::pass();
        }
        if pending_ack != 0 {
            word::wait_for(self.flag(1 - self.rank, pending_ack).epoch, pending_ack)?;
        }
        Ok(epoch)
    }

    /// This rank has come to an epoch, perhaps with a value.
    #[inline(always)]
    pub fn set_flag(&self, epoch: u64, value: Option<u64>, peers: &[Option<Peer>]) {
        let flag = self.flag(self.rank, epoch);
        if let Some(value) = value {
            flag.value.store(value, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `word::wait_for`.
        flag.epoch.store(epoch, Ordering::Release);
        if let Some(Some(peer)) = peers.get(1 - self.rank) {
            peer.neighbor.notify();
        }
    }

    /// Waits until the peer has come, too; its flag, whose value is that of this epoch if it brought one.
    #[inline(always)]
    pub fn wait_for_peer(&self, epoch: u64) -> Result<&Flag> {
        let flag = self.flag(1 - self.rank, epoch);
        word::wait_for(flag.epoch, epoch)?;
        Ok(flag)
    }

    #[inline(always)]
    fn flag(&self, rank: usize, epoch: u64) -> &Flag {
        &self.flags[rank & 1][(epoch & 1) as usize]
    }
}
