//! Data that lie in a peer's memory and that this process copies by itself, without a message for each copy.

use crate::checksum;
use crate::counters::SINGLE_COPIES;
use crate::peers::endpoint::Endpoint;
use crate::protocol::selection::Protocol;
use crate::raw::{Contiguous, peer_table};
use crate::state::STATE;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml::MatchContext;
use ompi_core::status::PROC_NULL;
use opal_core::framework::smsc;
use opal_core::{Error, verbose_once};

/// As [`ompi_core::framework::pml::Module::lends`]: not where the user has decided how long messages come, nor where each copy is checked.
pub fn lends(data: &Data<'_>, dest: i32, context: MatchContext<'_>) -> bool {
    if dest == PROC_NULL || Protocol::forced().is_some() || checksum::is_on() {
        return false;
    }
    let Some(at) = data.contiguous() else { return false };
    let smsc = endpoint(dest, context).and_then(|endpoint| endpoint.smsc_endpoint.as_ref());
    smsc.is_some_and(|smsc| smsc.peers_mechanism(at, data.bytes()).is_some())
}

/// As [`ompi_core::framework::pml::Module::is_lent`].
pub fn is_lent(source: i32, remote: u64, bytes: usize, context: MatchContext<'_>) -> bool {
    let smsc = endpoint(source, context).and_then(|endpoint| endpoint.smsc_endpoint.as_ref());
    smsc.is_some_and(|smsc| smsc.mechanism(remote, bytes).is_some())
}

/// Fills a run from a peer's memory.
pub fn copy(to: Option<Contiguous>, source: i32, remote: u64, context: MatchContext<'_>) -> Result<()> {
    let smsc = endpoint(source, context).and_then(|endpoint| endpoint.smsc_endpoint.as_ref());
    let (Some(to), Some(smsc)) = (to, smsc) else { return Err(failed(source, Error::Invalid)) };
    let bytes = to.bytes();
    to.read_from(smsc, remote, 0, bytes).map_err(|error| failed(source, error))?;
    verbose_once!(smsc::FRAMEWORK, 20, "first single copy of what is lent: {bytes} bytes read from a peer's memory");
    let _counters = STATE.lock();
    SINGLE_COPIES.count();
    Ok(())
}

/// Copies a run to a peer's memory.
pub fn copy_to(from: Option<Contiguous>, dest: i32, remote: u64, context: MatchContext<'_>) -> Result<()> {
    let smsc = endpoint(dest, context).and_then(|endpoint| endpoint.smsc_endpoint.as_ref());
    let (Some(from), Some(smsc)) = (from, smsc) else { return Err(failed(dest, Error::Invalid)) };
    let bytes = from.bytes();
    from.write_to(smsc, remote, 0, bytes).map_err(|error| failed(dest, error))?;
    verbose_once!(smsc::FRAMEWORK, 20, "first single copy to a peer: {bytes} bytes written to its memory");
    Ok(())
}

fn endpoint(rank: i32, context: MatchContext<'_>) -> Option<&'static Endpoint> {
    peer_table(context.comm).to(rank, context.comm).ok().map(|route| route.endpoint)
}

#[cold]
fn failed(source: i32, error: Error) -> Fault {
    let class = if error == Error::Unreachable { Class::ProcAborted } else { Class::Other };
    Fault::new(class).because(alloc::format!(
        "data that rank {source} lends cannot be read from its memory; `--mca pml_ob1_long_messages fragments` sends them instead"
    ))
}
