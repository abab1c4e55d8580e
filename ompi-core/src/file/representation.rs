//! Representations: how data lies in a file. MPI 5.0 §14.5.
#![allow(unsafe_code)]

use super::datarep::{self, Datarep, DatarepFunctions};
use super::scaled::scaled;
use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use alloc::format;
use alloc::sync::Arc;
use opal_core::datatype::Layout;

/// How data lies in a file.
#[derive(Clone, Copy, Debug)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As in memory: all processes of a job have the same machine.
    Internal,
    /// Big-endian, IEEE 754.
    External32,
    /// As functions of the program's say.
    Registered(&'static Datarep),
}

impl Representation {
    /// By its name.
    pub fn named(name: &str) -> Result<Representation> {
        if let Some(known) = STANDARD.iter().find(|known| known.name() == name) {
            return Ok(*known);
        }
        datarep::find(name).map(Representation::Registered).ok_or_else(|| {
            let why = format!(
                "{name} is no representation here; there are native, internal, external32 and what this process has \
                 given to MPI_Register_datarep"
            );
            Fault::new(Class::UnsupportedDatarep).argument("datarep").because(why)
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
            Representation::Registered(datarep) => datarep.name(),
        }
    }

    /// A word that is equal where the names are.
    pub fn fingerprint(self) -> u64 {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.name().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }

    /// Whether data that goes this way lies in the file as in memory.
    pub fn keeps(self, direction: AccessKind) -> bool {
        match self {
            Representation::Native | Representation::Internal => true,
            Representation::External32 => false,
            Representation::Registered(datarep) => !datarep.converts(direction),
        }
    }

    /// Whether it does both ways.
    pub fn keeps_all(self) -> bool {
        self.keeps(AccessKind::Read) && self.keeps(AccessKind::Write)
    }

    /// Whether [`Representation::layout`] calls functions of the program's.
    pub fn asks(self) -> bool {
        matches!(self, Representation::Registered(_))
    }

    /// Where the data of one element lies in the file: displacements in elements grow and shrink with their type, those in bytes
    /// stay (MPI 5.0 §14.5.1), and everything is aligned to a byte (§14.5.2 and §14.5.3). No lock is held.
    pub fn layout(self, datatype: &Datatype) -> Result<Arc<Layout>> {
        match self {
            Representation::Native | Representation::Internal => Ok(datatype.layout.clone()),
            Representation::External32 => scaled(datatype, &mut |basic| Ok(basic.layout.external_size() as u32)),
            Representation::Registered(datarep) => scaled(datatype, &mut |basic| datarep.extent(basic)),
        }
    }

    /// Bytes of one element in the file when it goes this way. No lock is held.
    pub fn bytes(self, datatype: &Datatype, direction: AccessKind) -> Result<usize> {
        match self {
            _ if self.keeps(direction) => Ok(datatype.layout.size()),
            Representation::External32 => Ok(datatype.layout.external_size()),
            _ => Ok(self.layout(datatype)?.size()),
        }
    }
}

/// MPI_Register_datarep: a representation of the program's own, under a name that is free.
///
/// # Safety
/// The functions are of these types and may be called with the extra state from any thread, as MPI 5.0 §14.5.3 says.
pub unsafe fn register_datarep(name: &str, functions: DatarepFunctions) -> Result<()> {
    if STANDARD.iter().any(|known| known.name() == name) {
        return Err(datarep::taken(name));
    }
    // SAFETY: the caller's promise.
    unsafe { datarep::register(name, functions) }
}

/// Those of the standard.
const STANDARD: [Representation; 3] = [Representation::Native, Representation::Internal, Representation::External32];
