//! Whether both ends of a path speak the same wire format.

use crate::{Error, Result, message};

/// For modules, of what a peer's address says first: `Err(Mismatch)`, after a message, unless the id is this process's own. `format` is
/// the text that the id stands for.
pub fn check_wire_id(transport: &str, peer: u32, theirs: Option<u32>, own: u32, format: &str) -> Result<()> {
    if theirs == Some(own) {
        return Ok(());
    }
    let theirs = theirs.unwrap_or(0);
    message!(
        "{transport}: process {peer} speaks wire format {theirs:#010x}, this one {own:#010x} ({format}); all processes of a job, and of \
         jobs that connect, need the same version of this library"
    );
    Err(Error::Mismatch)
}
