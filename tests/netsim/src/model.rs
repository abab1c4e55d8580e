//! What MPI promises of matching (MPI 5.0 §3.5): messages of one sender on one communicator are taken in the order in which they
//! were sent, and receives in the order in which they were posted. With one sender that says which receive gets which message,
//! whenever each of them arrives.

use ompi_core::status::ANY_TAG;

/// The messages and receives of one communicator.
#[derive(Default)]
pub struct Model {
    // Numbers and tags of those without a partner, in order.
    messages: Vec<(usize, i32)>,
    receives: Vec<(usize, i32)>,
}

impl Model {
    /// A message is sent; returns the receive that gets it.
    pub fn send(&mut self, message: usize, tag: i32) -> Option<usize> {
        let place = self.receives.iter().position(|(_, wanted)| *wanted == ANY_TAG || *wanted == tag);
        match place {
            Some(place) => Some(self.receives.remove(place).0),
            None => {
                self.messages.push((message, tag));
                None
            }
        }
    }

    /// A receive is posted; returns the message that it gets.
    pub fn receive(&mut self, receive: usize, wanted: i32) -> Option<usize> {
        let place = self.messages.iter().position(|(_, tag)| wanted == ANY_TAG || wanted == *tag);
        match place {
            Some(place) => Some(self.messages.remove(place).0),
            None => {
                self.receives.push((receive, wanted));
                None
            }
        }
    }

    /// The tag of a message that waits for a receive.
    pub fn unreceived(&self) -> Option<i32> {
        self.messages.first().map(|(_, tag)| *tag)
    }

    /// What a receive wants that waits for a message.
    pub fn unsent(&self) -> Option<i32> {
        self.receives.first().map(|(_, wanted)| *wanted)
    }
}
