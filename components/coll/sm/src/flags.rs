//! Short data through flags, counters and data slots in one shared segment.

pub mod data_movement;
pub mod epoch;
pub mod layout;
pub mod oversubscription;
pub mod pair;
pub mod reduction;
pub mod segment;
pub mod v_variants;
