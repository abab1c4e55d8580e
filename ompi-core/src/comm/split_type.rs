//! MPI_Comm_split_type: the processes that share a resource. MPI 5.0 §7.4.2.

use super::hints::RESOURCE;
use super::{Communicator, Hints, create};
use crate::error::{Class, Fault, Result};
use crate::info::Info;
use crate::oob::Conversation;
use crate::oob::allgather::Allgather;
use crate::status::UNDEFINED;
use crate::{hardware, process, session};
use alloc::format;
use alloc::string::String;

/// MPI_COMM_TYPE_SHARED.
const SHARED: i32 = 221;
/// MPI_COMM_TYPE_HW_UNGUIDED.
const HW_UNGUIDED: i32 = 222;
/// MPI_COMM_TYPE_HW_GUIDED.
const HW_GUIDED: i32 = 223;
/// MPI_COMM_TYPE_RESOURCE_GUIDED.
const RESOURCE_GUIDED: i32 = 224;

/// The value of mpi_hw_resource_type that means the same as MPI_COMM_TYPE_SHARED.
const SHARED_MEMORY: &str = "mpi_shared_memory";

/// The processes that share this one's resource of a type; `None` if this one is on none, or the type is not known.
pub fn split_type(parent: &Communicator, split_type: i32, key: i32, info: Option<&Info>) -> Result<Option<usize>> {
    let hints = Hints::of(info);
    let guide = |key: &str| info.and_then(|info| info.get(key));
    let color = match split_type {
        UNDEFINED => None,
        SHARED => place("node", ""),
        HW_UNGUIDED => return unguided(parent, key, hints),
        HW_GUIDED => guide(RESOURCE).and_then(|name| hardware_place(&name, &hints)),
        RESOURCE_GUIDED => match guide("mpi_pset_name") {
            Some(name) => set_place(&name),
            None => guide(RESOURCE).and_then(|name| hardware_place(&name, &hints)),
        },
        _ => return Err(Fault::new(Class::Arg).argument("split_type").because("it is not an MPI_COMM_TYPE_ constant")),
    };
    create::split(parent, color, key, hints)
}

/// By the largest resource that is smaller than what the communicator has: the first one, from the machine down, that
/// only a part of the processes shares. Processes that share one come to the same result, since smaller resources lie
/// inside larger ones.
fn unguided(parent: &Communicator, key: i32, hints: Hints) -> Result<Option<usize>> {
    const TYPES: usize = hardware::TYPES.len();
    let mine: [u64; TYPES] = hardware::TYPES.map(|name| hardware_place(name, &Hints::default()).unwrap_or(0));
    let everybody =
        Allgather::about(parent, Conversation::Collective, parent.next_constructor(), &mine).wait::<TYPES>()?;
    let chosen = (0..TYPES).find(|index| {
        let here = everybody.iter().filter(|places| places[*index] == mine[*index]).count();
        mine[*index] != 0 && here < everybody.len()
    });
    if let Some(index) = chosen {
        hints.set(RESOURCE, hardware::TYPES[index].into());
    }
    create::split(parent, chosen.map(|index| mine[index]), key, hints)
}

/// The color of a process set that this process is in: one name stands for another set on each process (mpi://SELF).
fn set_place(name: &str) -> Option<u64> {
    let members = session::members(name).filter(|members| members.contains(&process::me().index))?;
    Some(hash(&format!("{} from {}", name.to_ascii_lowercase(), members[0])))
}

/// The color of this process's resource of a type.
fn hardware_place(name: &str, hints: &Hints) -> Option<u64> {
    let color = if name == SHARED_MEMORY { place("node", "") } else { place(name, &hardware::instance(name)?) };
    hints.set(RESOURCE, name.into());
    color
}

fn place(what: &str, which: &str) -> Option<u64> {
    let text: String = format!("{what} {which} of node {}", process::me().node());
    Some(hash(&text))
}

/// Not 0, which stands for no place.
fn hash(text: &str) -> u64 {
    create::name_of(text.as_bytes(), &[])[0] | 1
}
