//! Making the memory of the words on all processes.

use super::layout::Layout;
use super::words::Words;
use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::oob::Conversation;
use crate::oob::allgather::Allgather;
use crate::user_memory;
use crate::win::gate;
use alloc::vec::Vec;
use opal_core::sys::{Mapping, Place, PlacedFile};

/// Words that a process tells all others at the same time.
pub const TOLD: usize = 4;

/// Memory that processes have mapped, by rank.
pub struct SharedWords {
    /// The memory.
    pub words: Words,
    /// What each of them tells.
    pub told: Vec<[u64; TOLD]>,
    /// Where each of them has the first word.
    pub bases: Vec<u64>,
}

/// Memory of a layout that all processes of a communicator have mapped, and what each of them tells; all call it. The gate is shut.
pub fn share(comm: &Communicator, layout: Option<Layout>, own: [u64; TOLD]) -> Result<SharedWords> {
    share_with(comm, layout, own, false)
}

/// The same; the gate is open if all processes want that and are capable of it.
pub fn share_with(comm: &Communicator, layout: Option<Layout>, own: [u64; TOLD], opens: bool) -> Result<SharedWords> {
    let opens = opens && gate::is_capable();
    if comm.size() == 1 {
        let layout = layout.filter(|layout| user_memory::check_left(layout.bytes() as u128).is_ok());
        let layout = layout.ok_or_else(no_memory)?;
        let mapping = Mapping::of_this_process(layout.bytes()).map_err(|_| no_memory())?;
        let words = Words::new(layout, mapping, 0, 1);
        if !opens {
            words.gate().shut_from_the_beginning();
        }
        let bases = alloc::vec![words.base()];
        return Ok(SharedWords { words, told: alloc::vec![own], bases });
    }
    // The first process makes the file, and tells where it is or that there is none.
    let made = match (comm.rank, &layout) {
        (0, Some(layout)) if user_memory::check_left(layout.bytes() as u128).is_ok() => {
            PlacedFile::create(layout.bytes()).map(Some)
        }
        _ => Ok(None),
    };
    let mut place =
        made.as_ref().ok().and_then(|file| file.as_ref()).map_or([0; Place::WORDS], |file| file.place().words());
    if comm.rank != 0 {
        // Only the first process tells of a file: the others tell here what they want.
        place[OPENS] = u64::from(opens);
    }
    let mut words = [0; Place::WORDS + TOLD];
    words[..Place::WORDS].copy_from_slice(&place);
    words[Place::WORDS..].copy_from_slice(&own);
    let all = exchange(comm, words)?;
    let place = Place::of_words(core::array::from_fn(|word| all[0][word]));
    let mapped = match (place, &layout, &made) {
        (Some(_), Some(layout), Ok(Some(file))) => file.map(layout.bytes()),
        (Some(place), Some(layout), _) => PlacedFile::open(&place).and_then(|file| file.map(layout.bytes())),
        _ => Err(opal_core::Error::OutOfResource),
    };
    let words =
        mapped.ok().zip(layout).map(|(mapping, layout)| Words::new(layout, mapping, comm.rank as usize, comm.size()));
    let all_open = opens && all[1..].iter().all(|words| words[OPENS] == 1);
    if let (0, Some(words), false) = (comm.rank, &words, all_open) {
        words.gate().shut_from_the_beginning();
    }
    // Until here the first process keeps its descriptor open; afterwards the mappings alone hold the memory.
    let bases = exchange(comm, [words.as_ref().map_or(0, Words::base)])?;
    drop(made);
    let words = words.ok_or_else(no_memory)?;
    let told = |words: &[u64; Place::WORDS + TOLD]| core::array::from_fn(|word| words[Place::WORDS + word]);
    Ok(SharedWords { words, told: all.iter().map(told).collect(), bases: bases.iter().map(|[base]| *base).collect() })
}

/// Which of the words of a process that tells of no file says whether it wants an open gate.
const OPENS: usize = 1;

/// The fault where memory cannot be shared.
#[cold]
pub fn no_memory() -> Fault {
    Fault::new(Class::NoMem)
        .because("the machine has not so much memory left, or the window's processes cannot share it")
}

/// The words of all processes of a communicator, by rank; all call it.
pub fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> Result<Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait::<N>()
}
