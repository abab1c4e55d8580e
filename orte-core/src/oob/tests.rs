use super::frame::RankEnd;
use super::handshake::{Step, job_of, of_job, secret_of_ranks};
use super::invitation::Refused;
use super::orders::{Input, Preloaded};
use super::*;
use crate::framework::ess::Needed;
use crate::job::number_of;
use crate::universe::Ports;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

const SECRET: Secret = [7; 32];

fn orders() -> JobOrders {
    JobOrders {
        nodes: vec![1, 1, 0],
        names: vec!["head".to_owned(), "n1".to_owned()],
        universe: 8,
        binding: vec!["--bind-to".to_owned(), "core".to_owned()],
        slots: vec!["0".to_owned(), "1-2".to_owned(), String::new()],
        stdin: Input::Rank(2),
        merge: true,
        pty: Some((24, 80)),
        directory: b"/tmp".to_vec(),
        environment: vec![(b"A".to_vec(), b"b\n".to_vec())],
        apps: vec![App {
            ranks: 3,
            command: vec![b"a b".to_vec(), Vec::new()],
            directory: None,
            path: Some(b"/x".to_vec()),
            is_empty: false,
            changes: vec![(b"B".to_vec(), None), (b"C".to_vec(), Some(b"d".to_vec()))],
            program: Some(Arc::new(b"\x7fELF".to_vec())),
        }],
        files: vec![Preloaded { path: b"data".to_vec(), mode: 0o640, content: Arc::new(vec![0, 1]) }],
        daemons: Daemons {
            radix: 64,
            words: vec!["ssh".to_owned(), "-x".to_owned()],
            command: b"/bin/mpirun".to_vec(),
            include: "eth0".to_owned(),
            exclude: String::new(),
            ports: "5000-5100".to_owned(),
        },
    }
}

pub fn every_frame() -> Vec<Frame> {
    vec![
        Frame::Orders(Box::new(orders())),
        Frame::Signal(15, true),
        Frame::Finish,
        Frame::Input(b"line\n".to_vec()),
        Frame::Room(1 << 20),
        Frame::Unread(3, 1),
        Frame::End(3, 15),
        Frame::LostElsewhere(4),
        Frame::Modex(vec![0, 255]),
        Frame::Started(1, 4711),
        Frame::Refused(127, "program a was not found".to_owned()),
        Frame::Ended(RankEnd { rank: 1, wait_status: 0x8b, state: 2, aborted: None, has_lost_peer: false }),
        Frame::Ended(RankEnd {
            rank: 1,
            wait_status: 9,
            state: 2,
            aborted: Some((-3, "called x".to_owned())),
            has_lost_peer: true,
        }),
        Frame::Aborted(2, -1, "called MPI_Abort".to_owned(), true),
        Frame::State(2, 3),
        Frame::Told(2, 1 << 40, "3 messages sent".to_owned()),
        Frame::Output(0, 1, Vec::new()),
        Frame::InputRoom(7),
        Frame::InputUnread,
        Frame::KeeperLost(9),
        Frame::Say("a line".to_owned()),
        Frame::Joined(3),
        Frame::CallAt(vec!["10.0.0.1:4000".to_owned(), "[fd00::1]:4000".to_owned()]),
        Frame::Entrance(Vec::new()),
        Frame::HostLost(3, "it is silent".to_owned()),
        Frame::Resumed(3, "10.0.0.1:7 and 10.0.0.2:8".to_owned()),
        Frame::AgentEnded(3, 0x7f00, None),
        Frame::AgentEnded(4, 0, Some("ssh is not in PATH".to_owned())),
        Frame::Gone,
        Frame::Beat,
        Frame::Ask(2),
        Frame::Waits(3, u64::MAX, 7),
        Frame::Doing(3, "in MPI_Recv".to_owned(), Needed::Rank(1), vec!["main + 0x4".to_owned(), "".to_owned()]),
    ]
}

#[test]
fn frames_round_trip_and_no_cut_of_one_is_another() {
    for frame in every_frame() {
        let bytes = frame.encode();
        assert_eq!(Frame::decode(&bytes), Ok(frame.clone()));
        for length in 0..bytes.len() {
            assert!(Frame::decode(&bytes[..length]).is_err(), "{frame:?} cut to {length} bytes");
        }
        assert!(Frame::decode(&[&bytes[..], &[0]].concat()).is_err(), "{frame:?} and one byte more");
    }
    assert_eq!(Frame::decode(&[99]), Err(OobFlaw::Field("kind")));
    assert_eq!(Frame::decode(&[21, 3]), Err(OobFlaw::Field("question")));
}

#[test]
fn what_claims_to_be_endless_is_refused_without_memory() {
    // A map of 2^32 - 1 ranks in a frame of 20 bytes.
    let mut bytes = vec![0xff; 20];
    bytes[0] = 1;
    assert_eq!(Frame::decode(&bytes), Err(OobFlaw::Length));
    let mut bytes = vec![0xff; 20];
    bytes[4..8].fill(0);
    let mut receiver = Receiver::new([1; 32], bytes);
    assert_eq!(receiver.next_payload(), Err(OobFlaw::TooLong(u64::from(u32::MAX))));
}

#[test]
fn orders_that_contradict_themselves_are_refused() {
    for (change, flaw) in [
        ((|orders| orders.nodes[0] = 2) as fn(&mut JobOrders), "map of ranks"),
        (|orders| orders.nodes.clear(), "map of ranks"),
        (|orders| orders.apps[0].ranks = 4, "number of ranks"),
        (|orders| _ = orders.slots.pop(), "number of ranks"),
        (|orders| orders.apps[0].command.clear(), "program"),
    ] {
        let mut wrong = orders();
        change(&mut wrong);
        assert_eq!(Frame::decode(&Frame::Orders(Box::new(wrong)).encode()), Err(OobFlaw::Field(flaw)));
    }
}

/// Both sides, byte by byte.
fn connect(daemon: Secret) -> Result<(Keys, Keys), OobFlaw> {
    let mut calling = Calling::new(daemon, 5, [1; 32]);
    let mut accepting = Accepting::new(SECRET, [2; 32]);
    let call = calling.call().to_vec();
    let mut answer = Vec::new();
    for byte in call {
        match accepting.push(&[byte])? {
            Step::Send(bytes) => answer = bytes,
            Step::Wait => {}
            Step::Trusted { .. } => panic!("trusted too early"),
        }
    }
    let mut own = None;
    for byte in answer {
        if let Step::Trusted { keys, send, .. } = calling.push(&[byte])? {
            own = Some((keys, send));
        }
    }
    let (own, confirm) = own.expect("the answer is complete");
    match accepting.push(&[&confirm[..], b"rest"].concat())? {
        Step::Trusted { node: 5, keys, rest, .. } if rest == b"rest" => Ok((keys, own)),
        _ => panic!("not trusted"),
    }
}

#[test]
fn who_knows_the_secret_is_trusted_and_nobody_else() {
    let (theirs, ours) = connect(SECRET).ok().unwrap();
    assert!(theirs.daemon == ours.daemon && theirs.mpirun == ours.mpirun && ours.daemon != ours.mpirun);
    assert_eq!(connect([8; 32]).err(), Some(OobFlaw::Proof));
    let garbage = |bytes: &[u8]| Accepting::new(SECRET, [2; 32]).push(bytes).err();
    assert_eq!(garbage(b"GET / HTTP/1.1"), Some(OobFlaw::Magic));
    let other = super::PROTOCOL + 1;
    assert_eq!(garbage(&[&b"ompi-oob"[..], &other.to_le_bytes()].concat()), Some(OobFlaw::Protocol(other)));
    assert!(secret_of_ranks(&SECRET) != SECRET && job_of(&SECRET) != job_of(&[8; 32]));
    let further = of_job(SECRET, 3);
    assert_eq!(number_of(job_of(&further)), 3);
    assert_ne!(job_of(&further), job_of(&of_job([8; 32], 3)));
}

/// Both sides learn what the other one has, and nobody else can say it for them.
#[test]
fn numbers_of_frames_are_exchanged() {
    let mut calling = Calling::again(SECRET, 5, 17, [1; 32]);
    let mut accepting = Accepting::new(SECRET, [2; 32]);
    let Ok(Step::Send(answer)) = accepting.push_with(calling.call(), |node| 100 + u64::from(node)) else { panic!() };
    let mut changed = answer.clone();
    changed[32] ^= 1;
    assert_eq!(Calling::again(SECRET, 5, 17, [1; 32]).push(&changed).err(), Some(OobFlaw::Proof));
    let Ok(Step::Trusted { send, told: 17, theirs: 105, .. }) = calling.push(&answer) else { panic!() };
    let Ok(Step::Trusted { told: 105, theirs: 17, node: 5, .. }) = accepting.push(&send) else { panic!() };
}

#[test]
fn an_old_call_cannot_be_confirmed() {
    let mut recorded = Calling::new(SECRET, 5, [1; 32]);
    let call = recorded.call().to_vec();
    let mut first = Accepting::new(SECRET, [2; 32]);
    let Ok(Step::Send(answer)) = first.push(&call) else { panic!("not answered") };
    let Ok(Step::Trusted { send, .. }) = recorded.push(&answer) else { panic!("not trusted") };
    let mut second = Accepting::new(SECRET, [3; 32]);
    assert!(matches!(second.push(&call), Ok(Step::Send(_))));
    assert_eq!(second.push(&send).err(), Some(OobFlaw::Proof), "what was recorded is not enough");
}

#[test]
fn a_sealed_frame_that_was_touched_is_refused() {
    let sent = |payloads: &[&[u8]]| -> Vec<Vec<u8>> {
        let mut sender = Sender::new([1; 32]);
        payloads.iter().map(|payload| sender.seal(payload).unwrap()).collect()
    };
    let opened = |bytes: &[u8]| -> Result<Vec<Vec<u8>>, OobFlaw> {
        let mut receiver = Receiver::new([1; 32], Vec::new());
        let mut all = Vec::new();
        for byte in bytes {
            receiver.push(&[*byte]);
            all.extend(receiver.next_payload()?);
        }
        Ok(all)
    };
    let frames = sent(&[b"one", b"", b"three"]);
    assert_eq!(opened(&frames.concat()), Ok(vec![b"one".to_vec(), Vec::new(), b"three".to_vec()]));
    assert_eq!(opened(&[&frames[0][..], &frames[2]].concat()), Err(OobFlaw::Proof), "one is left out");
    assert_eq!(opened(&[&frames[0][..], &frames[0]].concat()), Err(OobFlaw::Proof), "one came twice");
    // Also of the length, which would be of more than is there.
    for bit in 0..8 * frames[0].len() {
        let mut changed = frames[0].clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(opened(&changed), Err(OobFlaw::Proof), "bit {bit}");
    }
}

#[test]
fn invitations() {
    let invitation = Invitation {
        hosts: vec![(3, "n1".to_owned()), (4, "n=2".to_owned())],
        secret: [0xab; 32],
        silence_ms: 10_000,
        patience_ms: 60_000,
        addresses: vec!["10.0.0.1:99".parse().unwrap(), "[fd00::1]:7".parse().unwrap()],
        ports: Ports { universe: "ompi-rs:1:2:3".to_owned(), parent: String::new() },
    };
    let text = invitation.encode("0.1.0");
    assert_eq!(
        [Some("n1"), Some("n=2"), Some("n3"), None].map(|name| invitation.node_of(name)),
        [Some(3), Some(4), None, None]
    );
    let one = Invitation { hosts: vec![(7, "n1".to_owned())], ..invitation.clone() };
    assert_eq!([Some("alias"), None].map(|name| one.node_of(name)), [Some(7), Some(7)]);
    assert_eq!(Invitation::decode(&text, "0.1.0"), Ok(invitation));
    assert_eq!(Invitation::decode(&text, "0.2.0"), Err(Refused::Version("0.1.0".to_owned())));
    assert!(Invitation::is_complete(&text));
    for length in 0..text.len() {
        assert!(!Invitation::is_complete(&text[..length]));
        assert!(Invitation::decode(&text[..length.saturating_sub(1)], "0.1.0").is_err());
    }
    let wrong = text.replace("abab", "xyxy");
    assert_eq!(Invitation::decode(&wrong, "0.1.0"), Err(Refused::Line("secret".to_owned())));
    assert_eq!(Invitation::decode("hello\n", "0.1.0"), Err(Refused::Line("hello".to_owned())));
}
