//! What a node does with an envelope.
//!
//! | from the parent | |
//! |---|---|
//! | to the neighbour, to this node | for this node |
//! | to a node below | on to the child above it, as it came |
//! | to all | on to all children, and for this node |
//!
//! | from a child | |
//! |---|---|
//! | to the neighbour | for this node |
//! | from that child or a node below it | on to the parent, as it came; in mpirun: for mpirun |
//!
//! Everything else is a flaw: a daemon does not speak for nodes that are not below it.

use super::envelope::{self, Way};
use super::{Hop, Tree};
use crate::oob::{Frame, OobFlaw};
use core::ops::Range;

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Router {
    /// The tree.
    pub tree: Tree,
    /// Which one this is.
    pub node: u32,
}

/// Where an envelope goes from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// For this node: who sent it, and what it says.
    pub here: Option<(u32, Frame)>,
    /// It is passed on to the parent.
    pub up: bool,
    /// It is passed on to these children.
    pub down: Range<u32>,
    /// The child says with it that nothing is left there: it hangs up next.
    pub is_last: bool,
}

impl Router {
    /// The parent sent this.
    pub fn from_parent(&self, bytes: &[u8]) -> Result<Routed, OobFlaw> {
        let (way, frame) = envelope::open(bytes)?;
        let parent = self.tree.parent(self.node).ok_or(OobFlaw::Field("way"))?;
        let here = || Frame::decode(frame).map(|frame| Some((parent, frame)));
        match way {
            Way::Neighbor => Ok(Routed { here: here()?, ..Routed::NOWHERE }),
            Way::All => Ok(Routed { here: here()?, down: self.tree.children(self.node), ..Routed::NOWHERE }),
            Way::To(node) => match self.tree.hop(self.node, node) {
                Hop::Here => Ok(Routed { here: here()?, ..Routed::NOWHERE }),
                Hop::Down(child) if node < self.tree.nodes => Ok(Routed { down: child..child + 1, ..Routed::NOWHERE }),
                _ => Err(OobFlaw::Field("node")),
            },
            Way::From(_) => Err(OobFlaw::Field("way")),
        }
    }

    /// This child sent this.
    pub fn from_child(&self, child: u32, bytes: &[u8]) -> Result<Routed, OobFlaw> {
        let (way, frame) = envelope::open(bytes)?;
        match way {
            Way::Neighbor => Ok(Routed { here: Some((child, Frame::decode(frame)?)), ..Routed::NOWHERE }),
            Way::From(node) if self.tree.holds(child, node) => {
                let is_last = node == child && Frame::is_gone(frame);
                match self.node {
                    0 => Ok(Routed { here: Some((node, Frame::decode(frame)?)), is_last, ..Routed::NOWHERE }),
                    _ => Ok(Routed { up: true, is_last, ..Routed::NOWHERE }),
                }
            }
            Way::From(_) => Err(OobFlaw::Field("node")),
            Way::To(_) | Way::All => Err(OobFlaw::Field("way")),
        }
    }
}

impl Routed {
    const NOWHERE: Routed = Routed { here: None, up: false, down: 0..0, is_last: false };
}
