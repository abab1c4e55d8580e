//! Protocols.

pub mod placement;
pub mod quiesced;
pub mod rendezvous;
pub mod rts_data;
pub mod selection;
pub mod smsc;
