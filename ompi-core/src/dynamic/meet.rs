//! Two groups become an intercommunicator: what all processes of one of them do.

use super::launcher;
use crate::comm::roster::{self, CARD_WORDS};
use crate::comm::{Communicator, Hints, Member, Reservation};
use crate::error::{Class, Fault, Result};
use crate::framework::{bml, pml};
use crate::oob::allgather::{Allgather, Participants, broadcast};
use crate::oob::{Conversation, Key};
use crate::process::{self, Meeting};
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::Ordering;

/// What a root brings from its exchange.
pub struct Exchanged {
    /// Numbers for all processes of the group, however it went.
    pub notes: Vec<u64>,
    /// The roster of the other group.
    pub roster: Result<Vec<u8>>,
}

impl Exchanged {
    /// Without notes.
    pub fn of(roster: Result<Vec<u8>>) -> Exchanged {
        Exchanged { notes: Vec::new(), roster }
    }
}

/// Called by all processes of an intracommunicator; `exchange` runs at the root only, with the roster of this group. The handle of
/// the intercommunicator, and the notes. An error of the root's is one of all of them.
pub fn meet(
    comm: &Communicator,
    root: usize,
    exchange: impl FnOnce(&[u8]) -> Exchanged,
) -> Result<(usize, Vec<u64>), (Fault, Vec<u64>)> {
    let alone = |fault| (fault, Vec::new());
    let reservation = Reservation::new(&comm.group).map_err(alone)?;
    let participants = Participants::of(comm);
    let number = comm.next_constructor();
    let key = |conversation| Key::of(conversation, comm.context, number);
    let card = roster::card(reservation.number);
    let cards = Allgather::new(participants.clone(), key(Conversation::Collective), &card);
    let cards = roster::checked(cards.wait::<CARD_WORDS>().map_err(alone)?).map_err(alone)?;
    let is_root = comm.rank as usize == root;
    let (words, own) = match is_root {
        true => {
            let exchanged = exchange(&roster::of_cards(&cards));
            (encode(&exchanged), exchanged.roster.err())
        }
        false => (Vec::new(), None),
    };
    let words = broadcast(&participants, key(Conversation::Broadcast), root, words).map_err(alone)?;
    let (notes, found) = decode(&words).ok_or_else(|| alone(Class::Intern.into()))?;
    let found = match own {
        Some(fault) => Err(fault),
        None => found,
    };
    let joined = found.and_then(|roster| join(comm, root, reservation, &cards, &roster));
    match joined {
        Ok(handle) => Ok((handle, notes)),
        Err(fault) => Err((fault, notes)),
    }
}

fn join(
    comm: &Communicator,
    root: usize,
    reservation: Reservation,
    cards: &[[u64; CARD_WORDS]],
    roster: &[u8],
) -> Result<usize> {
    let mut meeting = Meeting::default();
    let there = roster::members(roster, &mut meeting)?;
    let of_card = |(process, card): (u32, &[u64; CARD_WORDS])| Member { process, context: (card[1] >> 32) as u32 };
    let here: Vec<Member> = comm.group.members().iter().zip(cards).map(of_card).collect();
    if here.iter().any(|member| there.iter().any(|other| other.process == member.process)) {
        return Err(Fault::new(Class::Comm).argument("comm").because("the two groups have a process in common"));
    }
    reach(&there)?;
    if comm.rank as usize == root {
        launcher::met(&here, &there);
    }
    let made = reservation.activate(here, Some(there), comm.errhandler.load(Ordering::Relaxed), Hints::default())?;
    made.ok_or_else(|| Class::Intern.into())
}

/// Before anybody says that both have met: where no transport leads to one of them, nothing comes of it.
fn reach(there: &[Member]) -> Result<()> {
    for member in there {
        if let Err(fault) = pml::selected().reach(member.process) {
            let process = process::get(member.process);
            let is_lost = pml::selected().is_lost(member.process);
            let why = bml::selected().filter(|_| !is_lost).map(|bml| bml.why_unreachable(&process));
            return Err(why.map_or(fault, |why| Fault::new(Class::ProcAborted).because(why)));
        }
    }
    Ok(())
}

/// An error code, how many notes, the notes, how many bytes, the bytes: of the roster, or of the reason.
fn encode(exchanged: &Exchanged) -> Vec<u64> {
    let (code, bytes) = match &exchanged.roster {
        Ok(roster) => (0, roster.as_slice()),
        Err(fault) => (fault.get(), fault.reason().as_bytes()),
    };
    let mut words = Vec::from([code as u32 as u64, exchanged.notes.len() as u64]);
    words.extend(&exchanged.notes);
    words.extend(roster::to_words(bytes));
    words
}

fn decode(words: &[u64]) -> Option<(Vec<u64>, Result<Vec<u8>>)> {
    let ([code, count], rest) = words.split_first_chunk()?;
    let (notes, rest) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
    let bytes = roster::from_words(rest)?;
    let found = match *code as u32 as i32 {
        0 => Ok(bytes),
        code => Err(Fault::code(code).because(String::from_utf8_lossy(&bytes).into_owned())),
    };
    Some((notes.to_vec(), found))
}

impl From<(Fault, Vec<u64>)> for Fault {
    fn from((fault, _): (Fault, Vec<u64>)) -> Fault {
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_root_found_reaches_all() {
        let good = Exchanged { notes: [7, 8].to_vec(), roster: Ok(b"123456789".to_vec()) };
        let (notes, roster) = decode(&encode(&good)).unwrap();
        assert_eq!((notes, roster.unwrap()), ([7, 8].to_vec(), b"123456789".to_vec()));
        let bad = Exchanged::of(Err(Fault::new(Class::Port).because("it is closed")));
        let (notes, roster) = decode(&encode(&bad)).unwrap();
        let fault = roster.unwrap_err();
        assert_eq!((notes.len(), fault.get(), fault.reason()), (0, Class::Port as i32, "it is closed"));
        assert!(decode(&[0, 3, 1]).is_none());
    }
}
