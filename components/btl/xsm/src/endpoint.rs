//! A process of another job: the cell that both share, and where it sleeps.

use crate::board::Board;
use crate::owner::Owner;
use crate::raw::Mapping;
use crate::wire;
use opal_core::framework::btl::Full;
use opal_core::queue::fifo::{Consumer, Producer, Refused};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A connected process.
pub struct PeerEndpoint {
    fifo_pair: FifoPair,
    cell: Mapping,
    // On which board the cell lies, which one it is, and this process's side of it.
    host: Board,
    number: usize,
    side: usize,
    // The peer's own.
    board: Board,
    owner: Owner,
    /// The caller's number for the peer.
    pub peer: u32,
    // How its process has ended, if it has.
    end: AtomicU32,
    removed: AtomicBool,
}

/// The cell of an endpoint.
pub struct Cell {
    /// Mapped.
    pub mapping: Mapping,
    /// The board that it lies on.
    pub host: Board,
    /// Its number there.
    pub number: usize,
    /// This process's side.
    pub side: usize,
}

impl PeerEndpoint {
    /// To `owner` of `board`, which the caller knows as `peer`.
    pub fn new(cell: Cell, board: Board, owner: Owner, peer: u32) -> PeerEndpoint {
        let Cell { mapping, host, number, side } = cell;
        let queue =
            |side: usize| mapping.queue(wire::slots(side), (wire::ring(side), wire::RING_BYTES), wire::consumed(side));
        let (to, from) = (Producer::new(queue(side)), Consumer::new(queue(1 - side)));
        let fifo_pair = FifoPair::new(to, from, board.sleep_flag(), false);
        PeerEndpoint {
            fifo_pair,
            cell: mapping,
            host,
            number,
            side,
            board,
            owner,
            peer,
            end: AtomicU32::new(NOT_ENDED),
            removed: AtomicBool::new(false),
        }
    }

    /// Both queues.
    #[inline(always)]
    pub fn fifo_pair(&self) -> &FifoPair {
        &self.fifo_pair
    }

    /// Runs `push` on the queue to the peer, with whether the peer waits for just this message. Afterwards the receiver
    /// notices the message. Sets `broken` if the peer has broken the queue.
    #[inline(always)]
    pub fn send(
        &self,
        broken: &AtomicBool,
        push: impl FnOnce(&mut Producer, bool) -> Result<(), Refused>,
    ) -> Result<(), Full> {
        if self.fifo_pair.is_closed() {
            return Err(Full);
        }
        let mut producer = self.fifo_pair.producer();
        if let Err(why) = push(&mut producer, self.fifo_pair.is_awaited()) {
            return self.refused(broken, why);
        }
        if self.fifo_pair.peer_sleeps() {
            self.wake();
        }
        Ok(())
    }

    /// Wakes the peer if it sleeps.
    #[cold]
    #[inline(never)]
    pub fn wake(&self) {
        self.board.wake();
    }

    /// A word of one side.
    pub fn shared_word(&self, own: bool, index: u32) -> Option<&AtomicU64> {
        let side = if own { self.side } else { 1 - self.side };
        (index < wire::WORDS).then(|| self.cell.word64(wire::word(side, index)))
    }

    /// Looks whether the peer has ended, or left MPI. What it sent before is there when this says so.
    #[cold]
    #[inline(never)]
    pub fn look(&self) {
        let has_finished = || self.host.claimed(self.number).left & wire::FINISHED << (1 - self.side) != 0;
        let end = match self.owner.has_ended() {
            true => DEAD,
            false if has_finished() => FINISHED,
            false => return,
        };
        self.end.store(end, Ordering::Release);
    }

    /// Whether a look found that.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        self.end.load(Ordering::Acquire) != NOT_ENDED
    }

    /// This process leaves MPI, and sends nothing more.
    pub fn finish(&self) {
        self.host.finish(self.number, self.side);
        self.wake();
    }

    /// Sends and receives nothing more. Says whether it was so before.
    pub fn remove(&self) -> bool {
        self.fifo_pair.close();
        self.removed.swap(true, Ordering::AcqRel)
    }

    /// After [`PeerEndpoint::remove`]: uses the cell no more. The mappings, of cell and board, may be given up or used again by others.
    pub fn leave(&self) -> [Mapping; 2] {
        self.host.leave(self.number, self.side);
        if self.end.load(Ordering::Acquire) == DEAD {
            self.host.leave(self.number, 1 - self.side);
        }
        [self.cell, self.board.header]
    }

    /// Whether it is in use no more.
    pub fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// The peer has broken what both share: nothing is sent or received any more. Says whether it was so before.
    #[cold]
    #[inline(never)]
    pub fn give_up(&self) -> bool {
        self.fifo_pair.close()
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, broken: &AtomicBool, why: Refused) -> Result<(), Full> {
        opal_core::wait::note_full();
        if why == Refused::Broken && !self.give_up() {
            opal_core::message!(
                "btl/xsm: process {} claims to have received what was never sent; the connection to it is closed",
                self.peer
            );
            // The next poll reports it: the caller of a send may hold what the callback needs.
            broken.store(true, Ordering::Relaxed);
        }
        Err(Full)
    }
}

const NOT_ENDED: u32 = 0;
/// It has left MPI, and may still look at the cell.
const FINISHED: u32 = 1;
/// Its process is no more.
const DEAD: u32 = 2;
