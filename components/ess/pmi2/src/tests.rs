//! Managers played by the test: each sends one answer that this library must refuse.

use crate::client::Client;
use crate::connection::Connection;
use crate::raw;
use crate::traces::{ADVICE, Traces};
use orte_core::direct::Manager;
use orte_core::direct::socket::Socket;
use std::format;
use std::io::{Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::string::String;
use std::thread;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

type Answers = &'static [(&'static str, &'static str)];

/// A manager that answers each request that begins with a left side by its right side, and anything else by closing.
fn start(first: &'static str, answers: Answers, patience_s: u64) -> Result<(Client, u32, u32), String> {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let mut hello = [0; 40];
        theirs.read_exact(&mut hello).unwrap();
        assert_eq!(&hello, b"cmd=init pmi_version=2 pmi_subversion=0\n");
        theirs.write_all(first.as_bytes()).unwrap();
        let mut length = [0; 6];
        while theirs.read_exact(&mut length).is_ok() {
            let length: usize = std::str::from_utf8(&length).unwrap().trim().parse().unwrap();
            let mut request = std::vec![0; length];
            theirs.read_exact(&mut request).unwrap();
            let request = String::from_utf8(request).unwrap();
            let Some((_, answer)) = answers.iter().find(|(begin, _)| request.starts_with(begin)) else { return };
            let length = if answer.is_empty() { String::new() } else { format!("{:<6}", answer.len()) };
            theirs.write_all(length.as_bytes()).unwrap();
            theirs.write_all(answer.as_bytes()).unwrap();
        }
    });
    let traces = Traces { descriptor: 6, job: "12.0".into(), rank: 3 };
    // Open until the test ends.
    let socket = Socket::Inherited(raw::inherited(ours.into_raw_fd()));
    Client::start(Connection::over(socket), &traces, patience_s)
}

const SLURM: &str = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";
const FULL: (&str, &str) = (
    "cmd=fullinit;pmijobid=12.0;pmirank=3;threaded=FALSE;",
    "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=3;size=4;appnum=-1;debugged=FALSE;pmiverbose=FALSE;",
);

#[test]
fn a_manager_that_does_all() {
    const ALL: Answers = &[
        FULL,
        (
            "cmd=info-getjobattr;key=PMI_process_mapping;",
            "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));",
        ),
        ("cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;rc=0;found=TRUE;value=4;"),
        ("cmd=kvs-get;jobid=12.0;srcid=-1;key=no;", "cmd=kvs-get-response;rc=0;found=FALSE;"),
        ("cmd=kvs-get;jobid=12.0;srcid=-1;key=a;", "cmd=kvs-get-response;rc=0;found=TRUE;value=b;"),
        ("cmd=kvs-put;key=a;value=b;", "cmd=kvs-put-response;rc=0;"),
        ("cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"),
        ("cmd=finalize;", "cmd=finalize-response;rc=0;"),
    ];
    let (client, rank, size) = start(SLURM, ALL, 10).unwrap();
    assert_eq!((rank, size, client.app_number(), client.universe_size()), (3, 4, None, Some(4)));
    assert_eq!(client.nodes(size).unwrap(), [0, 0, 1, 1]);
    assert_eq!((client.get(0, "no"), client.get(0, "a")), (Ok(None), Ok(Some("b".into()))));
    assert_eq!((client.put("a", "b"), client.fence(Some(10)), client.finalize()), (Ok(()), Ok(()), Ok(())));
    assert!(client.fence(Some(10)).unwrap_err().contains("the connection to the process manager"));
}

#[test]
fn no_answer_is_taken_for_that_of_a_later_request() {
    let (client, ..) = start(SLURM, &[FULL, ("cmd=kvs-get", "")], 1).unwrap();
    assert!(client.get(0, "a").unwrap_err().contains("did not answer in time"));
    assert!(client.get(0, "b").unwrap_err().contains("was ended"), "the answer to `a` may come now");
}

#[test]
fn another_version_names_both_sides() {
    let sentence = start("cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1\n", &[], 10).unwrap_err();
    for part in ["speaks PMI 1.1", "ompi-rs 0.", "PMI 2.0", "PMI_JOBID=12.0", ADVICE] {
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn each_other_mistake_is_named() {
    const RANK: (&str, &str) = ("cmd=fullinit", "cmd=fullinit-response;rc=0;rank=4;size=4;");
    const REFUSED: (&str, &str) = ("cmd=fullinit", "cmd=fullinit-response;rc=3;rank=3;size=4;errmsg=no;;job;");
    const OTHER: (&str, &str) = ("cmd=fullinit", "cmd=kvs-get-response;rc=0;rank=3;size=4;");
    const SILENT: (&str, &str) = ("cmd=fullinit", "");
    const GARBAGE: (&str, &str) = ("cmd=fullinit", "\u{1}\u{2}\n");
    for (first, answers, patience_s, part) in [
        ("\u{1}\u{2}\n", &[][..], 10, "answers `\\x01\\x02` to init"),
        (SLURM, &[RANK], 10, "rank 4 of 4"),
        (SLURM, &[REFUSED], 10, "answers `cmd=fullinit-response;rc=3"),
        (SLURM, &[OTHER], 10, "answers `cmd=kvs-get-response"),
        (SLURM, &[GARBAGE], 10, "something else than a packet of PMI-2"),
        (SLURM, &[SILENT], 0, "did not answer in time"),
        (SLURM, &[], 10, "it closed the connection"),
        (
            "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\nlength",
            &[SILENT],
            10,
            "something else than a packet",
        ),
    ] {
        let sentence = start(first, answers, patience_s).map(drop).unwrap_err();
        assert!(sentence.contains(part) && sentence.contains(ADVICE), "{part}: {sentence}");
    }
}
