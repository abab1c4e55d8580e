//! One message there, another one here, without deadlock. MPI 5.0 §3.10.

use super::status::one;
use super::{ANY_TAG, Destination, Source, Status, Tag};
use crate::Result;
use crate::datatype::{Buffer, BufferMut, Equivalence};
use crate::raw::{self, Peer};

/// Sends a message and receives one value.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{point_to_point::send_receive, traits::*};
///
/// let world = universe.world();
/// let right = world.process_at_rank((world.rank() + 1) % world.size());
/// let left = world.process_at_rank((world.rank() + world.size() - 1) % world.size());
/// let (heard, status) = send_receive::<i32, _, _, _>(&world.rank(), &right, &left)?;
/// assert_eq!(heard, status.source_rank());
/// # Ok::<(), ompi::Error>(())
/// ```
pub fn send_receive<R, S, D, F>(message: &S, to: &D, from: &F) -> Result<(R, Status)>
where
    R: Equivalence,
    S: Buffer + ?Sized,
    D: Destination,
    F: Source,
{
    send_receive_with_tags(message, (to, 0), (from, ANY_TAG))
}

/// As [`send_receive`], each with its tag.
pub fn send_receive_with_tags<R, S, D, F>(message: &S, to: (&D, Tag), from: (&F, Tag)) -> Result<(R, Status)>
where
    R: Equivalence,
    S: Buffer + ?Sized,
    D: Destination,
    F: Source,
{
    let mut value = raw::zeroed::<R>();
    let status = send_receive_into_with_tags(message, to, &mut value, from)?;
    to.0.destination().0.checked("send_receive", one::<R>(&status))?;
    Ok((value, status))
}

/// Sends a message and receives another one into a buffer.
pub fn send_receive_into<S, D, B, F>(message: &S, to: &D, buffer: &mut B, from: &F) -> Result<Status>
where
    S: Buffer + ?Sized,
    D: Destination,
    B: BufferMut + ?Sized,
    F: Source,
{
    send_receive_into_with_tags(message, (to, 0), buffer, (from, ANY_TAG))
}

/// As [`send_receive_into`], each with its tag. The two may be on different communicators.
pub fn send_receive_into_with_tags<S, D, B, F>(
    message: &S,
    to: (&D, Tag),
    buffer: &mut B,
    from: (&F, Tag),
) -> Result<Status>
where
    S: Buffer + ?Sized,
    D: Destination,
    B: BufferMut + ?Sized,
    F: Source,
{
    let ((owned, rank), (from_owned, from_rank)) = (to.0.destination(), from.0.source());
    let to = Peer { comm: owned.comm(), rank, tag: to.1 };
    let from = Peer { comm: from_owned.comm(), rank: from_rank, tag: from.1 };
    owned.checked("send_receive_into", raw::send_receive(message, to, buffer, from)).map(Status)
}

/// Sends what is in the buffer, and receives another message into it.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{point_to_point::send_receive_replace_into, traits::*};
///
/// let world = universe.world();
/// let next = world.process_at_rank((world.rank() + 1) % world.size());
/// let mut token = [world.rank(); 2];
/// send_receive_replace_into(&mut token, &next, &world.any_process())?;
/// # assert_eq!(token, [0, 0]);
/// # Ok::<(), ompi::Error>(())
/// ```
pub fn send_receive_replace_into<B, D, F>(buffer: &mut B, to: &D, from: &F) -> Result<Status>
where
    B: BufferMut + ?Sized,
    D: Destination,
    F: Source,
{
    send_receive_replace_into_with_tags(buffer, (to, 0), (from, ANY_TAG))
}

/// As [`send_receive_replace_into`], each with its tag.
pub fn send_receive_replace_into_with_tags<B, D, F>(buffer: &mut B, to: (&D, Tag), from: (&F, Tag)) -> Result<Status>
where
    B: BufferMut + ?Sized,
    D: Destination,
    F: Source,
{
    let ((owned, rank), (from_owned, from_rank)) = (to.0.destination(), from.0.source());
    let to = Peer { comm: owned.comm(), rank, tag: to.1 };
    let from = Peer { comm: from_owned.comm(), rank: from_rank, tag: from.1 };
    owned.checked("send_receive_replace_into", raw::send_receive_replace(buffer, to, from)).map(Status)
}
