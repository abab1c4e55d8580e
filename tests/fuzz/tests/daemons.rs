//! What mpirun, its daemons and further jobs say to each other: no decoder panics, believes a length that is not there, or accepts what
//! would have been sent otherwise.

use orte_core::oob;
use orte_core::universe::{Answer, Life, Ports, Request, SpawnApp, SpawnRequest};
use std::cell::Cell;
use test_fuzz::fuzz;

opal_core::image![opal_core::framework::atomics, memcpy_portable, shmem_memfd];

const ROUNDS: u64 = 50_000;

/// What processes ask mpirun for, what it answers, and what mpiruns and their companions tell each other: what is believed is what would
/// have been sent.
#[test]
fn universe_frames() {
    let app = SpawnApp { ranks: 2, options: vec![b"--wdir".to_vec()], command: vec![b"./a".to_vec(), Vec::new()] };
    let spawn = SpawnRequest { port: "p".into(), directory: b"/tmp".to_vec(), by: 7, apps: vec![app] };
    let requests = [
        Request::Spawn(spawn),
        Request::Publish("name".into(), "port".into()),
        Request::Lookup("name".into()),
        Request::Met(1, 2),
    ];
    let mut corpus: Vec<Vec<u8>> = requests.iter().map(Request::encode).collect();
    corpus.push(Answer::Started(77).encode());
    corpus.push(Ports { universe: "u".into(), parent: "p".into() }.encode());
    corpus.push(Life::Job(9).encode());
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let believed = Cell::new([0; 4]);
    fuzz(&corpus, ROUNDS, |bytes| {
        let again = [
            Request::decode(bytes).ok().map(|found| found.encode() == bytes),
            Ports::decode(bytes).ok().map(|found| found.encode() == bytes),
            Life::decode(bytes).ok().map(|found| found.encode().len() == bytes.len()),
            Answer::decode(bytes).ok().map(|_| true),
        ];
        let mut counts = believed.get();
        for (count, same) in counts.iter_mut().zip(again) {
            assert!(same != Some(false), "{bytes:?} is believed and would be sent otherwise");
            *count += u64::from(same.is_some());
        }
        believed.set(counts);
    });
    assert!(believed.get().iter().all(|count| *count > 100), "mutations must not all be refused: {:?}", believed.get());
}

/// A frame of each kind, as mpirun and its daemons send them.
fn oob_frames() -> Vec<oob::Frame> {
    let app = oob::App {
        ranks: 3,
        command: vec![b"a b".to_vec(), Vec::new()],
        directory: Some(b"/tmp".to_vec()),
        path: None,
        is_empty: true,
        changes: vec![(b"A".to_vec(), None), (b"B".to_vec(), Some(b"c".to_vec()))],
        program: Some(std::sync::Arc::new(b"\x7fELF".to_vec())),
    };
    let content = std::sync::Arc::new(vec![0, 1]);
    let orders = oob::JobOrders {
        nodes: vec![1, 1, 0],
        names: vec!["head".into(), "n1".into()],
        universe: 8,
        binding: vec!["--bind-to".into(), "core".into()],
        slots: vec!["0".into(), "1-2".into(), String::new()],
        stdin: oob::orders::Input::Rank(2),
        merge: false,
        pty: Some((24, 80)),
        directory: b"/home".to_vec(),
        environment: vec![(b"PATH".to_vec(), b"/bin".to_vec())],
        apps: vec![app],
        files: vec![oob::orders::Preloaded { path: b"data".to_vec(), mode: 0o640, content }],
        daemons: oob::Daemons {
            radix: 2,
            words: vec!["ssh".into()],
            command: b"/bin/mpirun".to_vec(),
            include: "eth0".into(),
            exclude: String::new(),
            ports: "5000-5100".into(),
        },
    };
    let aborted = Some((-3, "called x".to_owned()));
    vec![
        oob::Frame::Orders(Box::new(orders)),
        oob::Frame::Joined(3),
        oob::Frame::CallAt(vec!["10.0.0.1:4000".into(), "[fd00::1]:4000".into()]),
        oob::Frame::Entrance(vec!["10.0.0.1:4000".into()]),
        oob::Frame::HostLost(3, "it is silent".into()),
        oob::Frame::Resumed(3, "10.0.0.1:7 and 10.0.0.2:8".into()),
        oob::Frame::AgentEnded(3, 0x7f00, Some("no agent".into())),
        oob::Frame::Signal(15, true),
        oob::Frame::Input(b"line\n".to_vec()),
        oob::Frame::Refused(127, "no program".into()),
        oob::Frame::Ended(oob::frame::RankEnd { rank: 1, wait_status: 0x8b, state: 2, aborted, has_lost_peer: true }),
        oob::Frame::Output(0, 1, b"text".to_vec()),
        oob::Frame::Doing(
            1,
            "in MPI_Recv".into(),
            orte_core::framework::ess::Needed::Rank(2),
            vec!["main + 0x4 (a.out)".into()],
        ),
        oob::Frame::Told(1, 7, "3 messages sent".into()),
        oob::Frame::Gone,
    ]
}

/// Envelopes around them, at a node with a parent and children.
#[test]
fn envelopes_of_daemons() {
    use orte_core::routed::{Router, Tree, Way, envelope};
    let ways = [Way::Neighbor, Way::All, Way::To(1), Way::To(7), Way::From(3), Way::From(8)];
    let frames = oob_frames();
    let corpus = ways.iter().flat_map(|way| frames.iter().map(|frame| envelope::encode(*way, frame)));
    let corpus: Vec<Vec<u8>> = corpus.collect();
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let router = Router { tree: Tree { nodes: 9, radix: 2 }, node: 1 };
    let (sound, passed) = (Cell::new(0), Cell::new(0));
    fuzz(&corpus, ROUNDS, |bytes| {
        for (routed, from) in [(router.from_parent(bytes), 0), (router.from_child(3, bytes), 3)] {
            let Ok(routed) = routed else { continue };
            sound.set(sound.get() + 1);
            passed.set(passed.get() + u32::from(routed.up || !routed.down.is_empty()));
            assert!(routed.here.is_none_or(|(sender, _)| sender == from));
            assert!(routed.down.is_empty() || from == 0 && routed.down.start >= 3 && routed.down.end <= 5);
            assert!(!routed.up || from == 3, "nothing goes back to where it came from");
        }
    });
    assert!(sound.get() > 1000 && passed.get() > 100, "mutations must not all be refused: {sound:?} {passed:?}");
}

#[test]
fn frames_of_daemons() {
    let corpus: Vec<Vec<u8>> = oob_frames().iter().map(oob::Frame::encode).collect();
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let (sound, orders) = (Cell::new(0), Cell::new(0));
    fuzz(&corpus, ROUNDS, |bytes| {
        let Ok(frame) = oob::Frame::decode(bytes) else { return };
        sound.set(sound.get() + 1);
        // One way to write each frame, so none hides something; but runs of ranks and of hosts may come in more pieces than they need.
        let again = frame.encode();
        match &frame {
            oob::Frame::Orders(_) => assert_eq!(oob::Frame::decode(&again).unwrap().encode(), again),
            _ => assert_eq!(again, bytes),
        }
        if let oob::Frame::Orders(all) = frame {
            orders.set(orders.get() + 1);
            assert!(all.nodes.iter().all(|node| (*node as usize) < all.names.len()));
            assert_eq!(all.apps.iter().map(|app| app.ranks).sum::<u32>() as usize, all.nodes.len());
        }
    });
    assert!(sound.get() > 1000 && orders.get() > 50, "mutations must not all be refused: {sound:?} {orders:?}");
}

#[test]
fn calls_and_seals_of_daemons() {
    let secret = [7; 32];
    let calling = oob::Calling::new(secret, 5, [1; 32]);
    fuzz(&[calling.call()], ROUNDS, |bytes| {
        let step = oob::Accepting::new(secret, [2; 32]).push(bytes);
        assert_eq!(matches!(step, Ok(oob::handshake::Step::Send(_))), bytes == calling.call());
    });
    let sealed = |payload: &[u8]| oob::Sender::new([1; 32]).seal(payload).unwrap();
    let (one, two) = (sealed(b"one"), sealed(b""));
    fuzz(&[&one, &two], ROUNDS, |bytes| {
        let mut receiver = oob::Receiver::new([1; 32], Vec::new());
        receiver.push(bytes);
        if let Ok(Some(payload)) = receiver.next_payload() {
            assert!(payload == b"one" || payload.is_empty(), "a forged frame: {payload:?}");
            assert!(bytes.starts_with(if payload.is_empty() { &two } else { &one }));
        }
    });
}

/// Counts of frames that nobody gave are refused, and what is kept never grows by them.
#[test]
fn counts_of_daemons() {
    let payload = |number: u64, frame: &[u8]| [&number.to_le_bytes()[..], frame].concat();
    let corpus = [payload(0, b"frame"), payload(2, b""), payload(3, b"x"), payload(4, b"y")];
    let corpus: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    let sound = Cell::new(0);
    fuzz(&corpus, ROUNDS, |bytes| {
        let mut session = oob::Resumable::default();
        (0..3).for_each(|_| _ = session.give(b"given"));
        if let Ok(frame) = session.take(bytes) {
            sound.set(sound.get() + 1);
            assert!(bytes[0] <= 3 && bytes[1..8].iter().all(|byte| *byte == 0));
            assert_eq!(session.kept_bytes(), 5 * (3 - usize::from(bytes[0])));
            assert_eq!(frame.unwrap_or_default(), bytes[8..]);
        }
    });
    assert!(sound.get() > 1000, "mutations must not all be refused: {sound:?}");
}

#[test]
fn invitations_of_daemons() {
    let invitation = oob::Invitation {
        hosts: vec![(3, "n1".into()), (4, "n=2".into())],
        secret: [0xab; 32],
        silence_ms: 10_000,
        patience_ms: 60_000,
        addresses: vec!["10.0.0.1:99".parse().unwrap(), "[fd00::1]:7".parse().unwrap()],
        ports: orte_core::universe::Ports { universe: "ompi-rs:1:2:3".to_owned(), parent: String::new() },
    };
    let text = invitation.encode("0.1.0");
    let sound = Cell::new(0);
    fuzz(&[text.as_bytes()], ROUNDS, |bytes| {
        let Ok(text) = core::str::from_utf8(bytes) else { return };
        if let Ok(read) = oob::Invitation::decode(text, "0.1.0") {
            sound.set(sound.get() + 1);
            assert!(!read.addresses.is_empty());
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
}
