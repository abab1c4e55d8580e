//! Where processes of a job turn to beyond it: ports, whose texts hold secrets. The segment is the one place that only they can read.

use super::{Control, Shared};
use crate::segment::layout::{PARENT_PORT, PORT_BYTES, UNIVERSE_PORT};
use alloc::string::String;
use opal_core::{Error, Result};

/// Whose port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortOf {
    /// Of the mpirun to which ranks turn for further jobs and names: the one that the user started.
    Universe,
    /// Of the processes that had this job started, which wait for it there.
    Parent,
}

impl<S: Shared> Control<S> {
    /// Launcher: leaves a port, before any rank starts. `Err(OutOfResource)` if it is too long.
    pub fn set_port(&self, of: PortOf, text: &str) -> Result<()> {
        if text.len() > PORT_BYTES {
            return Err(Error::OutOfResource);
        }
        self.write(offset(of), text.as_bytes());
        Ok(())
    }

    /// The port; `None` if there is none.
    pub fn port(&self, of: PortOf) -> Option<String> {
        let bytes = self.read(offset(of), PORT_BYTES);
        let text = bytes.split(|byte| *byte == 0).next()?;
        let text = core::str::from_utf8(text).ok().filter(|text| !text.is_empty())?;
        Some(String::from(text))
    }
}

fn offset(of: PortOf) -> usize {
    match of {
        PortOf::Universe => UNIVERSE_PORT,
        PortOf::Parent => PARENT_PORT,
    }
}
