//! For mpi_f08: how far a procedure reaches in each of its buffers, as calls of `ompi-core/fortran/src/reach.rs`.

use super::procedure::{Argument, Class, Procedure, Rank};
use super::shims::ident;

/// Without what says how the operation is called: gather for MPI_Igather, MPI_Gather_init and their large twins.
pub fn base(procedure: &Procedure) -> &'static str {
    let stem = procedure.stem();
    let name = stem.trim_end_matches("_c").trim_end_matches("_init");
    // MPI_I… and MPI_R…
    let known = |name: &str| BASES.iter().find(|(base, _, _)| *base == name).map(|(base, _, _)| *base);
    known(name).or_else(|| known(name.get(1..)?)).unwrap_or("")
}

/// Whether data of several processes follow each other in a buffer.
pub fn has_blocks(procedure: &Procedure) -> bool {
    let base = base(procedure);
    BASES.iter().any(|(name, send, receive)| *name == base && !(send.is_empty() && receive.is_empty()))
}

/// What the call reaches in the buffer that is argument `at`.
pub fn of(procedure: &Procedure, at: usize) -> String {
    let (arguments, base) = (&procedure.arguments, base(procedure));
    let name = |at: usize| arguments.get(at).map_or_else(String::new, |argument| ident(&argument.name));
    let is_send = name(at) == "sendbuf";
    let (_, send, receive) = BASES.iter().find(|(name, _, _)| *name == base).copied().unwrap_or_default();
    let many = if is_send { send } else { receive };
    let blocks = format!("{many}(comm, {}.start())", name(at));
    if procedure.category == "partitioned" {
        return "reach::blocks(count, datatype, partitions.length())".to_owned();
    }
    let next = |from: usize, is: fn(&Argument) -> bool| arguments.get(from).filter(|one| is(one)).map(|_| name(from));
    let scalar = |one: &Argument| is_count(one) && one.shape == Rank::Scalar;
    let array = |one: &Argument| is_count(one) && one.shape == Rank::Array;
    let datatype = |one: &Argument| is_datatype(one) && one.shape == Rank::Scalar;
    let datatypes = |one: &Argument| is_datatype(one) && one.shape == Rank::Array;
    match (next(at + 1, scalar), next(at + 2, datatype)) {
        (Some(count), Some(datatype)) if many.is_empty() => return format!("reach::items({count}, {datatype})"),
        (Some(count), Some(datatype)) => return format!("reach::blocks({count}, {datatype}, {blocks})"),
        // Packed data.
        (Some(size), None) => return format!("reach::bytes({size})"),
        _ => {}
    }
    if let (Some(counts), Some(displs)) = (next(at + 1, array), next(at + 2, array)) {
        return match next(at + 3, datatypes) {
            Some(types) => format!("reach::spread_types({counts}, {displs}, {types}, {blocks})"),
            None => format!("reach::spread({counts}, {displs}, {}, {blocks})", name(at + 3)),
        };
    }
    // Reductions: both buffers stand before the count.
    match (base, is_send) {
        ("reduce_scatter", true) => "reach::parts(recvcounts, datatype, comm)".to_owned(),
        ("reduce_scatter", false) => {
            "if sendbuf.start().is_in_place() { reach::parts(recvcounts, datatype, comm) } else { reach::own_part(recvcounts, datatype, comm) }".to_owned()
        }
        ("reduce_scatter_block", true) => "reach::blocks(recvcount, datatype, members(comm))".to_owned(),
        ("reduce_scatter_block", false) => {
            "reach::blocks(recvcount, datatype, if sendbuf.start().is_in_place() { members(comm) } else { 1 })".to_owned()
        }
        _ => "reach::items(count, datatype)".to_owned(),
    }
}

fn is_count(argument: &Argument) -> bool {
    matches!(argument.class, Class::Integer | Class::Count | Class::Address)
}

fn is_datatype(argument: &Argument) -> bool {
    argument.class == Class::Handle("Datatype".to_owned())
}

/// Collective procedures, and how many processes' data a send and a receive buffer have; empty: one's.
const BASES: &[(&str, &str, &str)] = &[
    ("bcast", "", ""),
    ("reduce", "", ""),
    ("reduce_scatter", "", ""),
    ("reduce_scatter_block", "", ""),
    ("get_accumulate", "", ""),
    ("gather", "", "peers"),
    ("gatherv", "", "peers"),
    ("scatter", "peers", ""),
    ("scatterv", "peers", ""),
    ("allgather", "", "peers"),
    ("allgatherv", "", "peers"),
    ("alltoall", "peers", "peers"),
    ("alltoallv", "peers", "peers"),
    ("alltoallw", "peers", "peers"),
    ("neighbor_allgather", "", "sources"),
    ("neighbor_allgatherv", "", "sources"),
    ("neighbor_alltoall", "destinations", "sources"),
    ("neighbor_alltoallv", "destinations", "sources"),
    ("neighbor_alltoallw", "destinations", "sources"),
];
