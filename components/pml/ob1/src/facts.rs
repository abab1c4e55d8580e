//! What a debugger needs to know of queues and operations, for [`opal_core::inspect`]. `ompi-core/gdb` reads it.

use crate::context::{self, ContextMatcher, MatchedMessage};
use crate::protocol::operation;
use crate::raw::UserBuffer;
use crate::state;
use opal_core::inspect::Fact;

/// All of it.
pub static ALL: &[&[Fact]] = &[
    &state::FACTS,
    &context::FACTS,
    &ContextMatcher::FACTS,
    &operation::FACTS,
    &UserBuffer::FACTS,
    &MatchedMessage::FACTS,
];
