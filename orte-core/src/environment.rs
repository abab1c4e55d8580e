//! The environment contract: the variables that a launcher gives to a rank. Numbers are decimal unless it says otherwise.
//!
//! The names beginning `OMPI_COMM_WORLD_` are Open MPI's, because scripts read them. Parameters travel as
//! `OMPI_MCA_<name>=<value>` ([`opal_core::mca::source::PREFIX`]); the variable
//! [`opal_core::mca::source::COMMAND_LINE`] names those that were typed on mpirun's command line.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Rank in the job.
pub const RANK: &str = "OMPI_COMM_WORLD_RANK";
/// Ranks of the job.
pub const SIZE: &str = "OMPI_COMM_WORLD_SIZE";
/// Rank among those of this node.
pub const LOCAL_RANK: &str = "OMPI_COMM_WORLD_LOCAL_RANK";
/// Ranks on this node.
pub const LOCAL_SIZE: &str = "OMPI_COMM_WORLD_LOCAL_SIZE";
/// As [`LOCAL_RANK`], but counted over all jobs that this launcher runs on the node; one job, so the same.
pub const NODE_RANK: &str = "OMPI_COMM_WORLD_NODE_RANK";
/// Ranks that the job could have: `MPI_UNIVERSE_SIZE`.
pub const UNIVERSE_SIZE: &str = "OMPI_UNIVERSE_SIZE";
/// Which of the job's programs this is, counted from 0 in the order of the command line: `MPI_APPNUM`.
pub const APP: &str = "OMPI_APP_CTX";
/// The job's number, hexadecimal; also in the segment's header.
pub const JOB: &str = "OMPI_RS_JOB";
/// Descriptor of the job segment, inherited. mpirun leaves it inheritable, so that a shell may stand between it and
/// the rank; the rank sets close-on-exec on it when it initializes.
pub const SEGMENT: &str = "OMPI_RS_SEGMENT";

/// In a job over several nodes: descriptor of the file that says where each rank is.
pub const MAP: &str = "OMPI_RS_MAP";
/// In a job over several nodes: descriptor of the file that gets the addresses of the other nodes' ranks.
pub const ADDRESSES: &str = "OMPI_RS_ADDRESSES";
/// In a job over several nodes: descriptor of the socket by which a rank tells the launcher to look.
pub const WAKE_SOCKET: &str = "OMPI_RS_WAKE_SOCKET";

/// A pipe that MPI_Init makes standard output, if that is still the pseudo terminal that mpirun gave: descriptor and inode of the
/// pipe, file system and number of the terminal.
pub const OUTPUT: &str = "OMPI_RS_OUTPUT";

/// The number of the process on this node that all ranks here descend from; left out by a launcher that has none.
pub const LAUNCHER: &str = "OMPI_RS_LAUNCHER";

/// On bare metal: ranks of the job, as the boot line's `size=` says it.
pub const BOOT_SIZE: &str = "SIZE";

/// Every variable of the contract that a launcher sets anew for each job.
pub const ALL: [&str; 14] = [
    RANK,
    SIZE,
    LOCAL_RANK,
    LOCAL_SIZE,
    NODE_RANK,
    UNIVERSE_SIZE,
    APP,
    JOB,
    SEGMENT,
    LAUNCHER,
    MAP,
    ADDRESSES,
    WAKE_SOCKET,
    OUTPUT,
];

/// What the variables say to one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The job's number.
    pub job: u64,
    /// Rank in the job.
    pub rank: u32,
    /// Ranks of the job.
    pub size: u32,
    /// Rank on this node.
    pub local_rank: u32,
    /// Ranks on this node.
    pub local_size: u32,
    /// Ranks that the job could have.
    pub universe: u32,
    /// Which of the job's programs.
    pub app: u32,
    /// Descriptor of the segment.
    pub segment: i32,
    /// The process that all ranks of this node descend from.
    pub launcher: Option<u32>,
    /// What leads to the other nodes; none if the whole job runs on this one.
    pub wireup: Option<Wireup>,
    /// What is to become standard output.
    pub output: Option<OutputPipe>,
}

/// What [`OUTPUT`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPipe {
    /// Descriptor of the pipe.
    pub pipe: i32,
    /// Its inode: the number may be another file's by now.
    pub inode: u64,
    /// File system and number of the pseudo terminal that it replaces.
    pub terminal: [u64; 2],
}

impl OutputPipe {
    fn encode(self) -> String {
        format!("{},{},{},{}", self.pipe, self.inode, self.terminal[0], self.terminal[1])
    }

    fn decode(text: &str) -> Option<OutputPipe> {
        let (pipe, rest) = text.split_once(',')?;
        let mut numbers = rest.split(',').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        let (inode, terminal) = (next()?, [next()?, next()?]);
        let pipe = pipe.parse().ok().filter(|pipe| *pipe > 2)?;
        numbers.next().is_none().then_some(OutputPipe { pipe, inode, terminal })
    }
}

/// Descriptors of what the launcher of a node leaves to its ranks in a job over several nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wireup {
    /// Of [`MAP`].
    pub map: i32,
    /// Of [`ADDRESSES`].
    pub addresses: i32,
    /// Of [`WAKE_SOCKET`].
    pub wake_socket: i32,
}

impl Contract {
    /// The variables with their values.
    pub fn encode(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            (RANK, self.rank.to_string()),
            (SIZE, self.size.to_string()),
            (LOCAL_RANK, self.local_rank.to_string()),
            (LOCAL_SIZE, self.local_size.to_string()),
            (NODE_RANK, self.local_rank.to_string()),
            (UNIVERSE_SIZE, self.universe.to_string()),
            (APP, self.app.to_string()),
            (JOB, format!("{:x}", self.job)),
            (SEGMENT, self.segment.to_string()),
        ];
        variables.extend(self.launcher.map(|pid| (LAUNCHER, pid.to_string())));
        if let Some(Wireup { map, addresses, wake_socket }) = self.wireup {
            let named = [(MAP, map), (ADDRESSES, addresses), (WAKE_SOCKET, wake_socket)];
            variables.extend(named.map(|(name, number)| (name, number.to_string())));
        }
        variables.extend(self.output.map(|output| (OUTPUT, output.encode())));
        variables
    }

    /// Reads the variables: `Ok(None)` if no launcher left a segment, `Err` with a sentence if one is missing, is not
    /// a number or contradicts another.
    pub fn decode<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Contract>, String> {
        if variable(SEGMENT).is_none() {
            return Ok(None);
        }
        let number = |name: &str| -> Result<u32, String> {
            let text = variable(name).ok_or_else(|| missing(name))?;
            text.parse().map_err(|_| format!("{name} is `{text}`, which is not a number; {ADVICE}"))
        };
        let descriptor = |name: &str| -> Result<i32, String> {
            let text = variable(name).ok_or_else(|| missing(name))?;
            let number = text.parse().ok().filter(|number| *number >= 0);
            number.ok_or_else(|| format!("{name} is `{text}`, which is not a descriptor; {ADVICE}"))
        };
        let job = variable(JOB).ok_or_else(|| missing(JOB))?;
        let (rank, size, local_size) = (number(RANK)?, number(SIZE)?, number(LOCAL_SIZE)?);
        let contract = Contract {
            job: u64::from_str_radix(job, 16)
                .map_err(|_| format!("{JOB} is `{job}`, which is not a hexadecimal number; {ADVICE}"))?,
            rank,
            size,
            local_rank: number(LOCAL_RANK)?,
            local_size,
            universe: number(UNIVERSE_SIZE)?,
            app: number(APP)?,
            segment: descriptor(SEGMENT)?,
            launcher: variable(LAUNCHER).map(|_| number(LAUNCHER)).transpose()?,
            wireup: match local_size < size {
                true => Some(Wireup {
                    map: descriptor(MAP)?,
                    addresses: descriptor(ADDRESSES)?,
                    wake_socket: descriptor(WAKE_SOCKET)?,
                }),
                false => None,
            },
            output: variable(OUTPUT)
                .map(|text| {
                    OutputPipe::decode(text)
                        .ok_or_else(|| format!("{OUTPUT} is `{text}`, which names no pipe and terminal; {ADVICE}"))
                })
                .transpose()?,
        };
        contract.check()?;
        Ok(Some(contract))
    }

    fn check(&self) -> Result<(), String> {
        let Contract { rank, size, local_rank, local_size, .. } = *self;
        if rank >= size {
            return Err(format!("{RANK} is {rank} but {SIZE} is {size}; {ADVICE}"));
        }
        if local_rank >= local_size || local_size > size {
            return Err(format!(
                "{LOCAL_RANK} is {local_rank}, {LOCAL_SIZE} is {local_size} and {SIZE} is {size}; {ADVICE}"
            ));
        }
        Ok(())
    }
}

/// What to do about a contract that cannot be kept.
pub const ADVICE: &str = "start the program with the mpirun of the same ompi-rs";

/// Whether another launcher started this process as one of several: Slurm's srun, Open MPI's, those that speak PMI (MPICH's,
/// Intel MPI's), or PMIx, which names no size, so that only rank 0 can be alone.
pub fn other_launcher<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let number = |name: &str| variable(name).and_then(|text| text.parse::<u32>().ok());
    // A batch script and a shell of salloc have the variables of the allocation, but not those of a step.
    if let Some(size) = number(STEP_SIZE).filter(|size| *size > 1 && variable("SLURM_PROCID").is_some()) {
        let how = match (variable("PMI_FD"), variable("PMIX_RANK")) {
            (Some(_), _) => "--mpi=pmi2, but this library was built without ess/pmi2",
            (_, Some(_)) => "--mpi=pmix, which only a library with ess/pmix speaks",
            _ => "neither --mpi=pmi2 nor a default of that kind",
        };
        return Some(format!(
            "{STEP_SIZE} is {size}, so Slurm's srun started this process as one of several, with {how}: it cannot find the \
             others; start the program with srun --mpi=pmi2 and a library that has ess/pmi2 (or --mpi=pmix and ess/pmix), or unset \
             {STEP_SIZE} to run it alone"
        ));
    }
    let several = [SIZE, "PMI_SIZE"].into_iter().find(|name| number(name).is_some_and(|size| size > 1));
    let name = several.or_else(|| number("PMIX_RANK").filter(|rank| *rank > 0).map(|_| "PMIX_RANK"))?;
    let value = number(name)?;
    let pmix = match variable("PMIX_NAMESPACE") {
        Some(_) => ", or with a library that has ess/pmix (cargo xtask build --components default,ess/pmix)",
        None => "",
    };
    Some(format!(
        "{name} is {value}, so another launcher started this process as one of several; {ADVICE}{pmix}, or unset {name} to run it \
         alone"
    ))
}

/// The number of ranks as this library's mpirun or a process manager says it to a process that has not started MPI; 1 without
/// either. `None` for a manager that says it on request only.
pub fn told_size<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Option<&'a str> {
    if variable(SEGMENT).is_some() {
        return variable(SIZE);
    }
    match variable("PMI_FD").or_else(|| variable("PMI_PORT")).or_else(|| variable("PMIX_NAMESPACE")) {
        Some(_) => variable("PMI_SIZE"),
        None => Some("1"),
    }
}

/// Slurm: processes that one srun started.
const STEP_SIZE: &str = "SLURM_STEP_NUM_TASKS";

fn missing(name: &str) -> String {
    format!("{SEGMENT} is set but {name} is not; {ADVICE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Contract = Contract {
        job: 0xfeed_0123,
        rank: 2,
        size: 4,
        local_rank: 2,
        local_size: 4,
        universe: 8,
        app: 1,
        segment: 200,
        launcher: Some(4711),
        wireup: None,
        output: Some(OutputPipe { pipe: 214, inode: 77, terminal: [24, 34817] }),
    };
    const SEVERAL: Contract =
        Contract { local_size: 3, wireup: Some(Wireup { map: 210, addresses: 211, wake_socket: 213 }), ..GOOD };

    fn decode(change: Option<(&'static str, Option<&str>)>) -> Result<Option<Contract>, String> {
        decode_of(GOOD, change)
    }

    fn decode_of(contract: Contract, change: Option<(&'static str, Option<&str>)>) -> Result<Option<Contract>, String> {
        let mut pairs: Vec<(&str, String)> = contract.encode();
        if let Some((name, value)) = change {
            pairs.retain(|(other, _)| *other != name);
            pairs.extend(value.map(|value| (name, value.into())));
        }
        Contract::decode(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str()))
    }

    #[test]
    fn the_size_is_known_before_the_start() {
        let told = |pairs: &[(&str, &'static str)]| {
            told_size(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value))
        };
        assert_eq!(told(&[(SEGMENT, "200"), (SIZE, "4")]), Some("4"));
        assert_eq!(told(&[("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "3")]), Some("3"));
        assert_eq!(told(&[("PMI_PORT", "host:1"), ("PMI_ID", "1")]), None);
        assert_eq!(told(&[]), Some("1"));
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        assert_eq!(decode(None), Ok(Some(GOOD)));
        assert_eq!(decode(Some((SEGMENT, None))), Ok(None));
        assert_eq!(decode(Some((LAUNCHER, None))), Ok(Some(Contract { launcher: None, ..GOOD })));
        assert_eq!(decode(Some((OUTPUT, None))), Ok(Some(Contract { output: None, ..GOOD })));
    }

    #[test]
    fn every_flaw_is_named() {
        for name in [RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, UNIVERSE_SIZE, APP, JOB] {
            assert!(decode(Some((name, None))).unwrap_err().contains(name));
            assert!(decode(Some((name, Some("x")))).unwrap_err().contains(name));
        }
        assert!(decode(Some((LAUNCHER, Some("x")))).unwrap_err().contains(LAUNCHER));
        for wrong in ["", "x", "214", "214,77,24", "1,77,24,34817", "214,77,24,34817,", "214,-7,24,34817"] {
            assert!(decode(Some((OUTPUT, Some(wrong)))).unwrap_err().contains(OUTPUT), "{wrong}");
        }
        assert!(decode(Some((SEGMENT, Some("-1")))).unwrap_err().contains(SEGMENT));
        assert!(decode(Some((RANK, Some("4")))).unwrap_err().contains("4"));
        assert!(decode(Some((LOCAL_SIZE, Some("5")))).unwrap_err().contains("5"));
        assert!(decode(Some((LOCAL_RANK, Some("7")))).unwrap_err().contains("7"));
    }

    #[test]
    fn a_job_over_several_nodes_needs_the_way_to_them() {
        assert_eq!(decode_of(SEVERAL, None), Ok(Some(SEVERAL)));
        for name in [MAP, ADDRESSES, WAKE_SOCKET] {
            assert!(decode_of(SEVERAL, Some((name, None))).unwrap_err().contains(name));
            assert!(decode_of(SEVERAL, Some((name, Some("-3")))).unwrap_err().contains(name));
        }
        let pairs = SEVERAL.encode();
        let all_known = pairs.iter().all(|(name, _)| ALL.contains(name));
        assert!(all_known && pairs.len() == ALL.len(), "a launcher sets all of them anew");
    }

    #[test]
    fn other_launchers_are_recognised() {
        let said = |name: &'static str, value: &'static str| other_launcher(|asked| (asked == name).then_some(value));
        for (name, value) in [("OMPI_COMM_WORLD_SIZE", "2"), ("PMI_SIZE", "3"), ("PMIX_RANK", "1")] {
            let sentence = said(name, value).unwrap();
            assert!(sentence.contains(&format!("{name} is {value}")) && sentence.contains(ADVICE), "{sentence}");
        }
        let slurm = |more: &'static str, size: &'static str| {
            other_launcher(|asked| match asked {
                STEP_SIZE => Some(size),
                "SLURM_PROCID" => Some("0"),
                asked => (asked == more).then_some("0"),
            })
        };
        for (more, how) in
            [("", "neither"), ("PMI_FD", "without ess/pmi2"), ("PMIX_RANK", "only a library with ess/pmix")]
        {
            let sentence = slurm(more, "4").unwrap();
            assert!(
                sentence.contains(how) && sentence.contains("start the program with srun --mpi=pmi2"),
                "{sentence}"
            );
            assert_eq!(slurm(more, "1"), None);
        }
        assert_eq!(said(STEP_SIZE, "4"), None, "srun names each of its processes");
        for (name, value) in [("OMPI_COMM_WORLD_SIZE", "1"), ("PMI_SIZE", "x"), ("PMIX_RANK", "0"), ("HOME", "2")] {
            assert_eq!(said(name, value), None);
        }
    }
}
