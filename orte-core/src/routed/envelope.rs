//! A frame on its way through the tree.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1 to the neighbour, 2 to a node, 3 to all nodes below, 4 from a node |
//! | 4 | the node of 2 and 4, little-endian; else 0 |
//! | … | the frame |

use crate::oob::{Frame, OobFlaw};
use alloc::vec::Vec;

/// Where a frame goes, or where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the other end of the connection.
    Neighbor,
    /// Down to this node.
    To(u32),
    /// Down to the receiver and all nodes below it.
    All,
    /// Up from this node to mpirun.
    From(u32),
}

/// Bytes before those of the frame.
pub const BYTES: usize = 5;

/// A frame in its envelope.
pub fn encode(way: Way, frame: &Frame) -> Vec<u8> {
    let (kind, node) = match way {
        Way::Neighbor => (1, 0),
        Way::To(node) => (2, node),
        Way::All => (3, 0),
        Way::From(node) => (4, node),
    };
    let frame = frame.encode();
    let mut bytes = Vec::with_capacity(BYTES + frame.len());
    bytes.push(kind);
    bytes.extend_from_slice(&u32::to_le_bytes(node));
    bytes.extend_from_slice(&frame);
    bytes
}

/// The way, and the bytes of the frame, which are not looked at.
pub fn open(bytes: &[u8]) -> Result<(Way, &[u8]), OobFlaw> {
    let [kind, a, b, c, d, frame @ ..] = bytes else { return Err(OobFlaw::Length) };
    let node = u32::from_le_bytes([*a, *b, *c, *d]);
    let way = match (kind, node) {
        (1, 0) => Way::Neighbor,
        (2, _) => Way::To(node),
        (3, 0) => Way::All,
        (4, _) => Way::From(node),
        _ => return Err(OobFlaw::Field("way")),
    };
    Ok((way, frame))
}
