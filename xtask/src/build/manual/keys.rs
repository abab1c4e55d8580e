//! What the pages of single functions say beyond their row and the standard's data: info keys, and what their words mean here.

use super::roff::plain;
use std::fmt::Write;

/// Sections for the page of a function, perhaps none.
pub fn sections(function: &str) -> String {
    let mut text = String::new();
    for (_, keys) in KEYS.iter().filter(|(functions, _)| functions.contains(&function)) {
        text.push_str(".SH INFO KEYS\n");
        for (key, meaning) in *keys {
            _ = write!(text, ".TP\n.B {}\n{}\n", plain(key), plain(meaning));
        }
    }
    let mut paragraphs = NOTES.iter().filter(|(functions, _)| functions.contains(&function)).peekable();
    if paragraphs.peek().is_some() {
        text.push_str(".SH NOTES\n");
    }
    let paragraphs: Vec<String> = paragraphs.map(|(_, paragraph)| format!("{}\n", plain(paragraph))).collect();
    text + &paragraphs.join(".PP\n")
}

type OfFunctions<T> = (&'static [&'static str], T);

const SPAWN: &[&str] = &["MPI_Comm_spawn", "MPI_Comm_spawn_multiple"];
const ACCEPT: &[&str] = &["MPI_Open_port", "MPI_Comm_accept"];
const CONNECT: &[&str] = &["MPI_Comm_connect"];
const NAMES: &[&str] = &["MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name"];
const PARTING: &[&str] = &["MPI_Comm_disconnect"];

/// Keys of functions, and what their values mean.
const KEYS: &[OfFunctions<&[(&str, &str)]>] = &[
    (
        SPAWN,
        &[
            ("wdir, wd", "the directory in which the processes start; by default that of the root"),
            ("path", "directories to look for the program in, before PATH, parted by colons"),
            ("host", "hosts to run on, as mpirun's option --host has them: HOST[:SLOTS],..."),
            ("hostfile", "a file that names them, as --hostfile"),
            ("add-host, add-hostfile", "the same: whether the allocation has the hosts already makes no difference"),
            ("arch", "only hosts of this architecture, as uname -m names it"),
            ("file", "a file of parameters and options of mpirun, as --tune"),
            ("map_by, bind_to, npernode", "mpirun's options --map-by, --bind-to and --npernode"),
            ("pernode", "true: one process on each host"),
            ("env", "variables of the processes, NAME=VALUE, one a line"),
            ("mpi_initial_errhandler", "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return"),
            ("soft", "how many processes would do, as triplets of the standard: 1,2:8:2"),
            ("ompi_non_mpi", "true is refused with MPI_ERR_SPAWN: each process is waited for until it calls MPI_Init"),
        ],
    ),
    (
        CONNECT,
        &[(
            "timeout",
            "after how many seconds it fails if nobody accepts; by default the parameter mpi_connect_timeout_s",
        )],
    ),
];

/// Paragraphs.
const NOTES: &[OfFunctions<&str>] = &[
    (
        SPAWN,
        "The new processes are a job of their own, which mpirun starts: mpirun(1) says what it has of the first job's options. Any other \
         key is without effect. An empty value of a key is MPI_ERR_INFO_VALUE. Where the job cannot be started, the error is MPI_ERR_SPAWN at \
         all processes of comm, and MPI_Error_string says why until the next call that returns this class. array_of_errcodes has \
         MPI_ERR_SPAWN for each process that was not started: all of them, or with soft those beyond the number that was chosen.",
    ),
    (
        SPAWN,
        "In MPI_Comm_spawn_multiple the keys host, hostfile, add-host and add-hostfile of one program count for all.",
    ),
    (
        SPAWN,
        "Until both sides have called MPI_Comm_disconnect the failure of one job ends the other, too. Afterwards it is none of the \
         other's business.",
    ),
    (
        ACCEPT,
        "No info key has an effect. A port lasts until MPI_Close_port, or until its process ends. It can be reached from other hosts as well, on the \
         interfaces that the parameter oob_tcp_if_include names. Several may call at once; each MPI_Comm_accept takes one of them, and waits for as \
         long as it takes.",
    ),
    (
        NAMES,
        "No info key has an effect. A name is known to the jobs of one mpirun: the first one, and those that its processes spawn. A name that is not \
         published there is looked for among all other jobs of the same user on the same host. Jobs that were started with mpirun's \
         option --ompi-server file:FILE know the names of all jobs with the same server instead, on whatever host and of whatever \
         user; mpirun --name-server FILE is that server. A name ends when its mpirun ends, or with MPI_Unpublish_name, which any process \
         of these jobs may call. The name of a port that was closed still leads to it: to connect is MPI_ERR_PORT then.",
    ),
    (
        PARTING,
        "Processes of two jobs have parted once no communicator holds processes of both. From then on the failure of one job, and the \
         death of its mpirun's ranks, does not end the other; the mpirun that the user started ends with the last of them.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Each key that MPI_Comm_spawn reads is on its page.
    #[test]
    fn keys_of_spawn_are_listed() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ompi-core/src");
        let source = std::fs::read_to_string(core.join("dynamic/spawn.rs")).unwrap();
        let table = source.split_once("const OPTIONS").unwrap().1.split_once("];").unwrap().0;
        let rows = table.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split('"').next());
        let asked = source.split("info.get(\"").skip(1).filter_map(|rest| rest.split('"').next());
        let (page, keys) = (sections("MPI_Comm_spawn"), rows.chain(asked).collect::<Vec<_>>());
        assert!(keys.len() > 15, "{keys:?}");
        for key in keys {
            let key = plain(key);
            let is_listed =
                |line: &str| line.strip_prefix(".B ").is_some_and(|line| line.split(", ").any(|one| one == key));
            assert!(page.lines().any(is_listed), "{key} is missing in\n{page}");
        }
        assert!(sections("MPI_Comm_connect").contains(".B timeout\n") && sections("MPI_Send").is_empty());
        assert!(sections("MPI_Lookup_name").starts_with(".SH NOTES\n"));
    }
}
