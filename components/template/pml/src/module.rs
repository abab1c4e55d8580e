//! The module: the framework's calls, which go to one file for each verb.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::{contexts, probe, recv, send};
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched, Mode, Module};
use ompi_core::request::Request;
use ompi_core::status::Status;

/// The one module.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn open_context(&self, context: u32) -> Result<()> {
        contexts::open(context)
    }

    fn close_context(&self, context: u32) {
        contexts::close(context);
    }

    fn add_comm(&self, comm: &Communicator) -> Result<()> {
        contexts::connect(comm)
    }

    fn remove_comm(&self, comm: &Communicator) {
        contexts::forget(comm);
    }

    fn is_quiesced(&self, comm: &Communicator) -> bool {
        contexts::is_quiesced(comm)
    }

    fn reach(&self, process: u32) -> Result<usize> {
        contexts::reach(process)
    }

    fn send_oob(&self, process: u32, message: &[u8]) -> Result<()> {
        send::control(process, message)
    }

    unsafe fn send(&self, data: &Data<'_>, dest: i32, tag: i32, mode: Mode, on: MatchContext<'_>) -> Result<()> {
        send::start(data, dest, tag, mode, on)?.wait().map(drop)
    }

    unsafe fn isend(&self, data: &Data<'_>, dest: i32, tag: i32, mode: Mode, on: MatchContext<'_>) -> Result<Request> {
        send::start(data, dest, tag, mode, on)
    }

    unsafe fn recv(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        on: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()> {
        let received = recv::start(data, source, tag, on)?.wait()?;
        if let Some(status) = status {
            *status = received;
        }
        Ok(())
    }

    unsafe fn irecv(&self, data: &Data<'_>, source: i32, tag: i32, on: MatchContext<'_>) -> Result<Request> {
        recv::start(data, source, tag, on)
    }

    fn iprobe(&self, source: i32, tag: i32, on: MatchContext<'_>) -> Result<Option<Status>> {
        probe::look(source, tag, on)
    }

    fn improbe(&self, source: i32, tag: i32, on: MatchContext<'_>) -> Result<Option<Matched>> {
        probe::take(source, tag, on)
    }

    unsafe fn imrecv(&self, data: &Data<'_>, message: Matched) -> Result<Request> {
        recv::start_matched(data, message)
    }
}
