//! Waiting for another process over a connection, while everything else goes on.

use opal_core::progress;
use orte_core::port::Channel;

/// Lets everything else go on, and the other side.
pub fn rest(channel: &Channel) {
    progress::pass();
    progress::flush();
    channel.pause(REST_MS);
}

/// How late progress may come beside a connection.
pub const REST_MS: u32 = 1;
