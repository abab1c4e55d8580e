//! A send and a receive under one request: MPI_Isendrecv, MPI 5.0 §3.10.

use super::handles;
use super::{Driver, Id, Kind, NULL, Request, complete, create};
use crate::error::{Class, Result};
use crate::handle::HandleTable;
use crate::status::Status;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::ConditionalLock;

/// One request for both, complete when both are; its status is the receive's. `copy` is what the send reads, if it is
/// not the user's buffer, and lives as long.
pub fn join(receive: Request, send: Request, copy: Vec<u8>) -> Result<Request> {
    let parts = Parts { receive: receive.into_handle(), send: send.into_handle(), status: Status::EMPTY, id: None };
    let token = PAIRS
        .insert(Arc::new(Pair {
            state: ConditionalLock::new(State { parts: Some(parts), cancel: false }),
            _copy: copy,
        }))
        .ok_or(Class::NoMem)?;
    let request = create(Kind::Polled, &Exchange, token as u64).inspect_err(|_| drop(PAIRS.remove(token)))?;
    // Nobody else knows the request yet, so nobody polls it.
    if let Some(parts) = PAIRS.get(token).ok_or(Class::Intern)?.state.lock().parts.as_mut() {
        parts.id = Some(request.id());
    }
    Ok(request)
}

/// Waits for the receive of an exchange whose send has ended. If the send failed nothing may ever come: the receive is
/// cancelled.
pub fn finish(receive: Request, sent: Result<()>) -> Result<Status> {
    let mut handle = receive.into_handle();
    if sent.is_err() {
        handles::cancel(handle)?;
    }
    let status = handles::wait(&mut handle)?;
    sent.map(|()| status)
}

struct Parts {
    receive: usize,
    send: usize,
    status: Status,
    id: Option<Id>,
}

struct State {
    /// Not here while a thread asks the PML about them.
    parts: Option<Parts>,
    /// MPI_Cancel came meanwhile.
    cancel: bool,
}

struct Pair {
    state: ConditionalLock<State>,
    _copy: Vec<u8>,
}

impl Pair {
    fn put_back(&self, parts: Parts) {
        let receive = parts.receive;
        let mut state = self.state.lock();
        state.parts = Some(parts);
        let cancel = core::mem::take(&mut state.cancel);
        drop(state);
        if cancel {
            ask_to_cancel(receive);
        }
    }
}

fn ask_to_cancel(receive: usize) {
    if receive != NULL {
        // Whether it is cancelled its status will say.
        let _asked = handles::cancel(receive);
    }
}

static PAIRS: HandleTable<Pair> = HandleTable::new();

struct Exchange;

impl Driver for Exchange {
    fn poll(&self, token: u64) {
        let Some(pair) = PAIRS.get(token as usize) else { return };
        // Taken out, so that of two threads that wait one asks the PML, and nothing is locked meanwhile.
        let taken = pair.state.lock().parts.take();
        let Some(mut parts) = taken else { return };
        // A send that has failed already is what the request's status tells.
        if let Some(status) = ended(&mut parts.receive).filter(|_| parts.status.error == 0) {
            parts.status = status;
        }
        if let Some(status) = ended(&mut parts.send).filter(|status| status.error != 0)
            && parts.status.error == 0
        {
            parts.status.fail(status.error, status.context().unwrap_or(0));
        }
        match (parts.receive, parts.send, parts.id) {
            (NULL, NULL, Some(id)) => complete(id, parts.status),
            _ => pair.put_back(parts),
        }
    }

    fn cancel(&self, token: u64, _id: Id) {
        let Some(pair) = PAIRS.get(token as usize) else { return };
        let mut state = pair.state.lock();
        let Some(receive) = state.parts.as_ref().map(|parts| parts.receive) else {
            // Another thread has them, and cancels when it puts them back.
            state.cancel = true;
            return;
        };
        drop(state);
        ask_to_cancel(receive);
    }

    fn release(&self, token: u64) {
        PAIRS.remove(token as usize);
    }
}

/// The status of a part that ends just now; its handle is null afterwards.
fn ended(handle: &mut usize) -> Option<Status> {
    if *handle == NULL {
        return None;
    }
    match handles::test(handle) {
        Ok(status) => status,
        Err(fault) => {
            *handle = NULL;
            Some(Status::failed(fault.get()))
        }
    }
}
