//! The blocking receive that needs no request: spins on the transport for the message itself and copies it straight to the
//! user's buffer.
//!
//! Allowed only if nothing that is here matches and no receive that is posted could take what it waits for (MPI 5.0 §3.5),
//! from one source, with one thread. Whatever else comes from that source goes through matching as always.

use crate::matching::Tag;
use crate::raw::Fast;
use crate::state::STATE;
use crate::{recv, wire};
use ompi_core::error::Result;
use ompi_core::framework::pml::Lane;
use ompi_core::status::Status;
use opal_core::framework::btl;
use opal_core::sync::threads_possible;
use opal_core::wait::{self, Idle};

/// Receives if the direct path is open to it; `None`: go through matching.
#[inline(always)]
pub fn receive(data: &Fast<'_, '_>, from: i32, with: i32, lane: Lane<'_>) -> Result<Option<Status>> {
    if from < 0 || threads_possible() || !data.is_contiguous() {
        return Ok(None);
    }
    let link = crate::raw::routes(lane.comm).to(from).link;
    let tag = recv::tag(with);
    let own = wire::lane(lane.comm.context, lane.collective);
    let mut idle = Idle::new();
    while is_open(from as u32, tag, lane) {
        let polls = wait::polls_at_once();
        while let Some(arrived) = link.peek(polls) {
            let mine = match tag {
                Tag::Only(tag) => arrived.head == wire::envelope(own, tag),
                Tag::Any => arrived.head & wire::envelope(0, i32::MAX) ^ arrived.head == own,
            };
            if mine && arrived.am == wire::EAGER {
                let got = wire::Envelope::of(arrived.head).tag;
                let status = recv::status_of(from, got, data.bytes(), arrived.payload, lane.comm.context);
                data.write(arrived.payload);
                link.take();
                return Ok(Some(status));
            }
            btl::deliver(arrived.am, link.process, arrived.head, arrived.payload);
            link.take();
            if !is_open(from as u32, tag, lane) {
                return Ok(None);
            }
        }
        if link.is_dead() {
            return Err(link.fault());
        }
        idle.step()?;
    }
    Ok(None)
}

#[inline(always)]
fn is_open(source: u32, tag: Tag, lane: Lane<'_>) -> bool {
    let mut state = STATE.lock();
    let matcher = state.context_of(lane.comm).lane(lane.collective);
    matcher.is_quiet(source) || matcher.is_free(source, tag)
}
