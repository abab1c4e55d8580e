//! What a handshake leaves: the two directions of a protected connection.

use crate::handshake::Keys;
use crate::record::{Opener, Protect, Sealer};
use alloc::boxed::Box;

/// Both directions; of a connection that is not protected there is none.
pub struct Session {
    pub sealer: Box<Sealer>,
    pub opener: Box<Opener>,
}

impl Session {
    /// Of the connecting side.
    pub fn connecting(protect: Protect, keys: &Keys) -> Session {
        let (sealer, opener) = (Sealer::new(protect, &keys.connecting), Opener::new(protect, &keys.accepting));
        Session { sealer: Box::new(sealer), opener: Box::new(opener) }
    }

    /// Of the accepting side.
    pub fn accepting(protect: Protect, keys: &Keys) -> Session {
        let (sealer, opener) = (Sealer::new(protect, &keys.accepting), Opener::new(protect, &keys.connecting));
        Session { sealer: Box::new(sealer), opener: Box::new(opener) }
    }
}
