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
use opal_core::shareable::{self, PeerHeap};
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
    let made = Made::by(comm.rank, layout.as_ref());
    let mut place = made.place();
    if comm.rank != 0 {
        // Only the first process tells of memory: the others tell here what they want.
        place[OPENS] = u64::from(opens);
    }
    let mut words = [0; PLACE + TOLD];
    words[..PLACE].copy_from_slice(&place);
    words[PLACE..].copy_from_slice(&own);
    let all = exchange(comm, words)?;
    let (mapped, file) = match layout.as_ref().map(Layout::bytes) {
        Some(bytes) => made.map(core::array::from_fn(|word| all[0][word]), bytes),
        None => (None, None),
    };
    let words =
        mapped.zip(layout).map(|(mapping, layout)| Words::new(layout, mapping, comm.rank as usize, comm.size()));
    let all_open = opens && all[1..].iter().all(|words| words[OPENS] == 1);
    if let (0, Some(words), false) = (comm.rank, &words, all_open) {
        words.gate().shut_from_the_beginning();
    }
    // Until here the first process keeps its descriptor open; afterwards the mappings alone hold the memory.
    let bases = exchange(comm, [words.as_ref().map_or(0, Words::base)])?;
    drop(file);
    let words = words.ok_or_else(no_memory)?;
    let told = |words: &[u64; PLACE + TOLD]| core::array::from_fn(|word| words[PLACE + word]);
    Ok(SharedWords { words, told: all.iter().map(told).collect(), bases: bases.iter().map(|[base]| *base).collect() })
}

/// What the first process makes and the others find. Words alone are memory of its shareable heap, which the others have mapped already as a
/// rule: a window with a file of its own takes three times as long to make.
enum Made {
    Nothing,
    Block(Place, Mapping),
    File(PlacedFile),
}

impl Made {
    /// By this rank, for a layout.
    fn by(rank: u32, layout: Option<&Layout>) -> Made {
        let Some(layout) = layout.filter(|layout| rank == 0 && user_memory::check_left(layout.bytes() as u128).is_ok())
        else {
            return Made::Nothing;
        };
        let has_parts = layout.parts().1 > 0;
        if let Some(place) = shareable::place().filter(|_| !has_parts)
            && let Some(block) = shareable::mapping(layout.bytes())
        {
            return Made::Block(place, block);
        }
        PlacedFile::create(layout.bytes()).map_or(Made::Nothing, Made::File)
    }

    /// Where others find it: the place of a file, and an address if that is the file of a heap. All are 0 if there is nothing.
    fn place(&self) -> [u64; PLACE] {
        let (place, address) = match self {
            Made::Nothing => return [0; PLACE],
            Made::Block(place, block) => (*place, block.place(0, 0).addr() as u64),
            Made::File(file) => (file.place(), 0),
        };
        let [process, device, inode] = place.words();
        [process, device, inode, address]
    }

    /// The memory, of what was made here or else of what the first process tells; and the file, which is to stay open until all have mapped it.
    fn map(
        self,
        [process, device, inode, address]: [u64; PLACE],
        bytes: usize,
    ) -> (Option<Mapping>, Option<PlacedFile>) {
        match self {
            Made::Block(_, block) => (Some(block), None),
            Made::File(file) => (file.map(bytes).ok(), Some(file)),
            Made::Nothing => {
                let place = Place::of_words([process, device, inode]);
                let mapped = place.and_then(|place| match address {
                    0 => PlacedFile::open(&place).and_then(|file| file.map(bytes)).ok(),
                    _ => PeerHeap::of(&place).and_then(|heap| shareable::mapping_of(&heap, address, bytes)).ok(),
                });
                (mapped, None)
            }
        }
    }
}

const PLACE: usize = Place::WORDS + 1;
/// Which of the words of a process that tells of no memory says whether it wants an open gate.
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
