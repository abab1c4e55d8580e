//! Managers played by the test: each sends one line that this library must refuse.

use crate::client::Client;
use crate::connection::Connection;
use crate::traces::{ADVICE, Traces};
use orte_core::direct::Manager;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::string::String;
use std::thread;

opal_core::image![opal_core::framework::atomics, memcpy_portable];

/// A manager that answers each line that begins with a left side by its right side, and anything else by closing.
fn manager(answers: &'static [(&'static str, &'static str)]) -> Traces {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
            match answers.iter().find(|(begin, _)| line.starts_with(begin)) {
                Some((_, answer)) => stream.write_all(answer.as_bytes()).unwrap(),
                None => return,
            }
            line.clear();
        }
    });
    Traces::Port { port, id: 3 }
}

fn start(answers: &'static [(&'static str, &'static str)], patience_s: u64) -> Result<(Client, u32, u32), String> {
    let traces = manager(answers);
    Client::start(Connection::open(&traces).unwrap(), &traces, patience_s)
}

const INITACK: (&str, &str) =
    ("cmd=initack pmiid=3\n", "cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n");
const INIT: (&str, &str) =
    ("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
const MAXES: (&str, &str) = ("cmd=get_maxes\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
const NAME: (&str, &str) = ("cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs_1\n");

#[test]
fn a_manager_that_does_all() {
    const MORE: &[(&str, &str)] = &[
        INITACK,
        INIT,
        MAXES,
        NAME,
        ("cmd=get kvsname=kvs_1 key=PMI_process_mapping\n", "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n"),
        ("cmd=get kvsname=kvs_1 key=no\n", "cmd=get_result rc=-1 msg=key_no_not_found value=unknown\n"),
        ("cmd=put kvsname=kvs_1 key=a value=b\n", "cmd=put_result rc=0 msg=success\n"),
        ("cmd=barrier_in\n", "cmd=barrier_out\n"),
        ("cmd=finalize\n", "cmd=finalize_ack\n"),
    ];
    let (client, rank, size) = start(MORE, 10).unwrap();
    assert_eq!((rank, size, client.value_bytes()), (3, 4, 1022));
    assert_eq!(client.nodes(size).unwrap(), [0, 0, 1, 1]);
    assert_eq!((client.get(0, "no"), client.put("a", "b"), client.fence(Some(10))), (Ok(None), Ok(()), Ok(())));
    assert_eq!(client.finalize(), Ok(()));
    assert!(client.fence(Some(10)).unwrap_err().contains("the connection to the process manager"));
}

#[test]
fn no_answer_is_taken_for_that_of_a_later_request() {
    const SLOW: &[(&str, &str)] = &[INITACK, INIT, MAXES, NAME, ("cmd=get kvsname=kvs_1 key=a\n", "")];
    let (client, ..) = start(SLOW, 1).unwrap();
    assert!(client.get(0, "a").unwrap_err().contains("did not answer in time"));
    assert!(client.get(0, "b").unwrap_err().contains("was ended"), "the answer to `a` may come now");
}

#[test]
fn another_version_names_both_sides() {
    const OTHER: (&str, &str) = ("cmd=init", "cmd=response_to_init pmi_version=2 pmi_subversion=3 rc=-1\n");
    let sentence = start(&[INITACK, OTHER], 10).unwrap_err();
    for part in ["speaks PMI 2.3", "ompi-rs 0.", "PMI 1.1", ADVICE] {
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn each_other_mistake_is_named() {
    const RANK: (&str, &str) = ("cmd=initack", "cmd=initack\ncmd=set size=4\ncmd=set rank=4\ncmd=set debug=0\n");
    const GARBAGE: (&str, &str) = ("cmd=init", "\u{1}\u{2}\n");
    const SILENT: (&str, &str) = ("cmd=init", "");
    for (answers, patience_s, part) in [
        (&[RANK][..], 10, "rank 4 of 4"),
        (&[INITACK, GARBAGE], 10, "something else than a line of PMI-1"),
        (&[INITACK, SILENT], 0, "did not answer in time"),
        (&[INITACK, INIT], 10, "it closed the connection"),
        (&[INITACK, INIT, ("cmd=get_maxes", "cmd=maxes vallen_max=many\n")], 10, "answers `cmd=maxes vallen_max=many`"),
    ] {
        let sentence = start(answers, patience_s).map(drop).unwrap_err();
        assert!(sentence.contains(part) && sentence.contains(ADVICE), "{sentence}");
    }
}
