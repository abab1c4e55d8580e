//! Probes.

use crate::context::Message;
use crate::recv;
use crate::state::{STATE, State};
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched, NO_PROC};
use ompi_core::status::{PROC_NULL, Status};
use opal_core::wait;

/// MPI_Iprobe.
pub fn look(from: i32, with: i32, lane: MatchContext<'_>) -> Result<Option<Status>> {
    if from == PROC_NULL {
        return Ok(Some(Status::NO_PROC));
    }
    if let Some(found) = look_once(from, with, lane) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    Ok(look_once(from, with, lane))
}

/// MPI_Improbe.
pub fn take(from: i32, with: i32, lane: MatchContext<'_>) -> Result<Option<Matched>> {
    if from == PROC_NULL {
        return Ok(Some(Matched { status: Status::NO_PROC, token: NO_PROC }));
    }
    if let Some(found) = take_once(from, with, lane) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    Ok(take_once(from, with, lane))
}

fn look_once(from: i32, with: i32, lane: MatchContext<'_>) -> Option<Status> {
    let mut state = STATE.lock();
    let matcher = state.context_of(lane.comm).lane(lane.collective);
    let (source, tag, message) = matcher.look(recv::source(from), recv::tag(with))?;
    Some(Status::new(source as i32, tag, message.body.bytes()))
}

fn take_once(from: i32, with: i32, lane: MatchContext<'_>) -> Option<Matched> {
    let mut state = STATE.lock();
    let matcher = state.context_of(lane.comm).lane(lane.collective);
    let (source, tag, message) = matcher.take(recv::source(from), recv::tag(with))?;
    let status = Status::new(source as i32, tag, message.body.bytes());
    let token = state.put_matched(status, lane.comm.context, message);
    Some(Matched { status, token })
}

const FIRST: u32 = 1024;
const NUMBER_BITS: u32 = 22;
const SERIALS: u64 = 1 << (31 - NUMBER_BITS);

impl State {
    fn put_matched(&mut self, status: Status, context: u32, message: Message) -> u64 {
        self.serial += 1;
        let serial = (self.serial % SERIALS) as u32;
        let number = self.matched.insert((serial, status, context, message)) + FIRST;
        assert!(number >> NUMBER_BITS == 0, "four million matched probes at once");
        u64::from(serial << NUMBER_BITS | number)
    }

    /// The message with a token that may be anything.
    pub fn take_matched(&mut self, token: u64) -> Option<(Status, u32, Message)> {
        let number = (token as u32 & ((1 << NUMBER_BITS) - 1)).checked_sub(FIRST)?;
        let serial = self.matched.find_mut(number)?.0;
        if u64::from(serial) != token >> NUMBER_BITS {
            return None;
        }
        let (_, status, context, message) = self.matched.remove(number);
        Some((status, context, message))
    }
}
