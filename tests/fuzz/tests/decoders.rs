//! No decoder panics, believes a length that is not there, or accepts bytes of another format.

use opal_core::framework::btl::{Job, KEY_BYTES_MAX, ProcessName};
use opal_core::mca::name::Selection;
use opal_core::mca::{Source, source};
use opal_core::mem::Untrusted;
use opal_core::sync::AtomicU32;
use opal_fabric::head::{self, Head};
use orte_core::allocation::{HOSTS_MAX, Surroundings, allocation};
use orte_core::direct::socket::take_line;
use orte_core::direct::{job, nodes};
use orte_core::environment::{self, Contract};
use orte_core::gpr::key::{self, Kind, Value};
use orte_core::gpr::registry::Registry;
use orte_core::gpr::segment::SegmentId;
use orte_core::gpr::view::View;
use orte_core::modex::frame::{self, ModexFrame};
use orte_core::modex::map::MapView;
use orte_core::modex::{Action, JobMap, Node};
use orte_core::segment::layout::HEADER_BYTES;
use orte_core::segment::{Control, Layout, Shared};
use std::cell::Cell;
use std::net::IpAddr;
use test_fuzz::{
    Random, addresses, control, fuzz, handshake, hosts, ofi_wire, pmi1_wire, pmi2_wire, rank_lines, rdma_wire, record,
    remote_key, sm_wire, uct_wire, wire, xsm_wire,
};

opal_core::image![opal_core::framework::atomics, memcpy_portable, shmem_memfd];

const ROUNDS: u64 = 50_000;

#[test]
fn tcp_frames() {
    let frame = wire::Header { kind: 1, pad: 48, bytes: 4096, immediate: 0x0123_4567_89ab_cdef }.encode();
    let sound = Cell::new(0);
    fuzz(&[&frame], ROUNDS, |bytes| {
        let Some(first) = bytes.first_chunk() else { return };
        if let Ok(header) = wire::Header::parse(first) {
            sound.set(sound.get() + 1);
            assert!(header.bytes <= wire::PAYLOAD_MAX);
            assert_eq!(header.encode(), *first);
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused at the first byte");
}

/// A header is believed as far as it can be, and whatever numbers it has, the windows stay as they are or move by what is there.
#[test]
fn tcp_published_addresses() {
    let record = |address: IpAddr| wire::AddressRecord {
        interface: 1,
        address,
        prefix: 24,
        loopback: false,
        port: 4711,
        mbps: 10_000,
        job: 7,
        network: 9,
    };
    let mut bytes = Vec::new();
    record("10.1.2.3".parse().unwrap()).push(&mut bytes);
    record("fe80::1".parse().unwrap()).push(&mut bytes);
    fuzz(&[&bytes], ROUNDS, |bytes| {
        let _ = wire::wire_id_of(bytes);
        if let Some(records) = wire::records(bytes) {
            assert_eq!(records.len() * wire::RECORD_BYTES, bytes.len());
            assert!(records.iter().all(|record| record.prefix <= 128));
        }
    });
}

#[test]
fn tcp_handshakes() {
    let job = Job { number: 77, index: 1, size: 4, one_node: false, secret: [5; 32] };
    let ids = handshake::EndpointIds {
        from: 0,
        to: 1,
        from_interface: 0,
        to_interface: 1,
        protect: test_fuzz::record::Protect::None,
        progress: handshake::Progress { received: 1 << 40, resumes: true },
        attempt: 3,
    };
    let (mine, theirs) = ([1; 16], [2; 32]);
    let hello = handshake::hello(&job, ids, &mine);
    let answer = handshake::answer(&job, &hello, &theirs, handshake::Progress { received: 7, resumes: true });
    let proof = handshake::proof(&job, &hello, &answer).expect("an answer of this job");
    assert!(handshake::is_proof_valid(&job, &hello, &answer, &proof));
    fuzz(&[&hello], ROUNDS, |bytes| {
        let Some(first) = bytes.first_chunk() else { return };
        assert_eq!(handshake::check_hello(&job, first) == Ok(ids), *first == hello);
    });
    fuzz(&[&answer], ROUNDS / 10, |bytes| {
        let Some(first) = bytes.first_chunk() else { return };
        assert_eq!(handshake::proof(&job, &hello, first).is_some(), *first == answer);
    });
    fuzz(&[&proof], ROUNDS / 10, |bytes| {
        let is_valid = |sent: &[u8; 32]| handshake::is_proof_valid(&job, &hello, &answer, sent);
        assert_eq!(bytes.try_into().is_ok_and(is_valid), bytes == proof);
    });
}

#[test]
fn sm_addresses() {
    let address = sm_wire::Address {
        wire_id: sm_wire::WIRE_ID,
        registered: true,
        local_rank: 1,
        local_size: 2,
        segment: [3; 24],
        wake_socket: core::array::from_fn(|at| at as u8),
        network: 7,
    };
    let bytes = address.to_bytes();
    fuzz(&[&bytes], ROUNDS, |bytes| {
        let _ = sm_wire::Address::wire_id_of(bytes);
        assert!(sm_wire::Address::parse(bytes).is_none_or(|address| address.to_bytes().len() == bytes.len()));
    });
}

#[test]
fn xsm_addresses() {
    let place = xsm_wire::Place { pid: 4711, descriptor: 200, device: 1, inode: 77 };
    let address = xsm_wire::Address { registered: true, place, name: ProcessName { job: 0x0123_4567, rank: 3 } };
    let sound = Cell::new(0);
    fuzz(&[&address.to_bytes()], ROUNDS, |bytes| {
        let _ = xsm_wire::Address::wire_id_of(bytes);
        if let Some(address) = xsm_wire::Address::parse(bytes) {
            sound.set(sound.get() + 1);
            assert_eq!(xsm_wire::Address::parse(&address.to_bytes()), Some(address));
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
}

/// What is believed of a message's header is what a sender can have written, and its token is one of this pair and this job alone.
#[test]
fn ofi_messages() {
    let job = Job { number: 77, index: 1, size: 4, one_node: false, secret: [5; 32] };
    let token = head::token(ofi_wire::LABEL, &job, 0, 1);
    let others = [(1, 0, 77, 5), (0, 2, 77, 5), (2, 1, 77, 5), (0, 1, 78, 5), (0, 1, 77, 6)];
    for (from, to, number, secret) in others {
        assert_ne!(head::token(ofi_wire::LABEL, &Job { number, secret: [secret; 32], ..job }, from, to), token);
    }
    let header = ofi_wire::Header {
        head: Head { from: 0, token, immediate: 0x0123_4567_89ab_cdef },
        number: 7,
        am: 3,
        returned: 9,
    };
    let sound = Cell::new(0);
    fuzz(&[&header.encode()], ROUNDS, |bytes| {
        let Some(first) = bytes.first_chunk() else { return };
        if let Some(header) = ofi_wire::Header::parse(first) {
            sound.set(sound.get() + 1);
            assert_eq!(header.encode(), *first);
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused at the first byte");
}

#[test]
fn ofi_addresses() {
    let address = ofi_wire::Address {
        format: 2,
        protocol: 9,
        protocol_version: 1,
        receive_bytes: 65536,
        window: 32,
        provider: b"tcp;ofi_rxm",
        address: &[2, 0, 0x12, 0x34, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    let sound = Cell::new(0);
    fuzz(&[&address.encode().expect("short enough")], ROUNDS, |bytes| {
        let _ = head::wire_id_of(bytes);
        if let Some(address) = ofi_wire::Address::parse(bytes) {
            sound.set(sound.get() + 1);
            assert!((1..=ofi_wire::FABRIC_ADDRESS_MAX).contains(&address.address.len()));
            assert!((ofi_wire::WINDOW_MIN..=ofi_wire::WINDOW_MAX).contains(&address.window));
            assert_eq!(address.encode().as_deref(), Some(bytes));
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
    assert_eq!(ofi_wire::Address { address: &[0; 129], ..address.clone() }.encode(), None, "too long");
}

/// A key of a peer is its number and its origin, whatever they are; the card knows which are its own.
#[test]
fn ofi_keys() {
    let key = ofi_wire::Key { key: 0x0123_4567_89ab_cdef, origin: 1 << 46 };
    let sound = Cell::new(0);
    fuzz(&[&key.encode()], ROUNDS, |bytes| {
        let Ok(whole) = bytes.try_into() else { return };
        sound.set(sound.get() + 1);
        assert_eq!(ofi_wire::Key::parse(whole).encode(), *whole);
    });
    assert!(sound.get() > 100, "mutations must not all have another length");
}

/// What a process says of its memory in a window lies where memory can be, whatever it says.
#[test]
fn rdma_windows() {
    let place = |address, bytes| rdma_wire::Place { address, key: vec![0x5a; bytes] };
    let told = rdma_wire::Told { words: place(0x1000, 16), memory: place(0x2001, KEY_BYTES_MAX) };
    let bytes = told.encode().map(u64::to_le_bytes).concat();
    let (words, window) = (6, 4096);
    let sound = Cell::new(0);
    fuzz(&[&bytes], ROUNDS, |bytes| {
        let mut told = [0; rdma_wire::TOLD_WORDS];
        for (word, eight) in told.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        }
        let Some(parsed) = rdma_wire::Told::parse(&told, words, window) else { return };
        sound.set(sound.get() + 1);
        for (place, bytes) in [(&parsed.words, 8 * words), (&parsed.memory, window)] {
            assert!(place.address != 0 && place.address <= isize::MAX as u64 - bytes as u64);
            assert!(place.key.len() <= KEY_BYTES_MAX);
        }
        assert!(parsed.words.address.is_multiple_of(8));
        assert_eq!(rdma_wire::Told::parse(&parsed.encode(), words, window), Some(parsed));
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
}

/// As [`ofi_messages`] has it; the kind of a message is UCT's to carry.
#[test]
fn uct_messages() {
    let job = Job { number: 77, index: 1, size: 4, one_node: false, secret: [5; 32] };
    let token = head::token(uct_wire::LABEL, &job, 0, 1);
    let others = [(1, 0, 77, 5), (0, 2, 77, 5), (2, 1, 77, 5), (0, 1, 78, 5), (0, 1, 77, 6)];
    for (from, to, number, secret) in others {
        assert_ne!(head::token(uct_wire::LABEL, &Job { number, secret: [secret; 32], ..job }, from, to), token);
    }
    let header = Head { from: 0, token, immediate: 0x0123_4567_89ab_cdef };
    let sound = Cell::new(0);
    fuzz(&[&header.encode(uct_wire::WIRE_ID)], ROUNDS, |bytes| {
        let Some(first) = bytes.first_chunk() else { return };
        if let Some(header) = Head::parse(first, uct_wire::WIRE_ID) {
            sound.set(sound.get() + 1);
            assert_eq!(header.encode(uct_wire::WIRE_ID), *first);
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused at the first byte");
}

#[test]
fn uct_addresses() {
    let messages = uct_wire::Place { transport: b"posix", device: &[1, 2, 3, 4, 5, 6, 7, 8], interface: &[9; 8] };
    let memory = uct_wire::Place { transport: b"cma", device: &[], interface: &[7, 0, 0, 0] };
    let address = uct_wire::Address { longest: 65528, version: [1, 13], messages, memory: Some(memory) };
    let one = uct_wire::Address { memory: None, ..address };
    let sound = Cell::new(0);
    let seeds = [address, one].map(|address| address.encode().expect("short enough"));
    fuzz(&[&seeds[0], &seeds[1]], ROUNDS, |bytes| {
        let _ = head::wire_id_of(bytes);
        if let Some(address) = uct_wire::Address::parse(bytes) {
            sound.set(sound.get() + 1);
            for place in [Some(address.messages), address.memory].into_iter().flatten() {
                assert!(place.device.len().max(place.interface.len()) <= uct_wire::ADDRESS_MAX);
            }
            assert_eq!(address.encode().as_deref(), Some(bytes));
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
    let long = uct_wire::Place { device: &[0; 129], ..messages };
    assert_eq!(uct_wire::Address { messages: long, ..address }.encode(), None, "too long");
}

/// What is handed to UCX as a key has the length that UCX expects, whatever else is in it.
#[test]
fn uct_keys() {
    let sound = Cell::new(0);
    for bytes in [0, 9] {
        let key = uct_wire::key(&[0x5a; 9][..bytes]).expect("short enough");
        assert_eq!(uct_wire::packed_key(&key, bytes), Some(&[0x5a; 9][..bytes]));
        assert_eq!(uct_wire::packed_key(&key, bytes + 1), None, "another length");
        fuzz(&[&key], ROUNDS, |mutant| {
            if let Some(packed) = uct_wire::packed_key(mutant, bytes) {
                sound.set(sound.get() + 1);
                assert_eq!(packed.len(), bytes);
            }
        });
    }
    assert!(sound.get() > 100, "mutations must not all be refused");
    assert_eq!(uct_wire::key(&[0; 256]), None);
}

/// Memory that a sender names is what a sender can have named, with a key that has a length.
#[test]
fn remote_keys() {
    let key = remote_key::RemoteKey::new(1 << 46, 0x0f1b_0002, &[7; 16]).expect("short enough");
    let mut place = [0; remote_key::REMOTE_KEY_BYTES_MAX];
    let bytes = key.pack(&mut place);
    let sound = Cell::new(0);
    fuzz(&[&place[..bytes]], ROUNDS, |bytes| {
        let Some(key) = remote_key::RemoteKey::unpack(Untrusted::of(bytes)) else { return };
        sound.set(sound.get() + 1);
        let mut again = [0; remote_key::REMOTE_KEY_BYTES_MAX];
        assert!((1..=64).contains(&key.key().len()));
        let packed = key.pack(&mut again);
        assert_eq!(&again[..packed], bytes);
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
}

/// What a resource manager left, each text the same bytes.
struct Left<'a>(&'a [&'a str], &'a str);

impl Surroundings for Left<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.contains(&name).then(|| self.1.to_owned())
    }

    fn file(&self, _path: &str) -> Result<String, String> {
        Ok(self.1.to_owned())
    }
}

#[test]
fn allocations_of_resource_managers() {
    let texts: [&[u8]; 5] =
        [b"n[01-03,7],x[1-2]y[3-4]", b"2(x3),1", b"a\na\nb\n", b"a.site 2 all.q UNDEFINED\n", b"a 2 b 4"];
    fuzz(&texts, ROUNDS, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for variables in [
            &["SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"][..],
            &["PBS_JOBID", "PBS_NODEFILE"],
            &["JOB_ID", "PE_HOSTFILE"],
            &["LSB_JOBID", "LSB_MCPU_HOSTS"],
        ] {
            if let Ok(Some((_, hosts))) = allocation(&Left(variables, &text)) {
                assert!((1..=HOSTS_MAX).contains(&hosts.len()) && hosts.iter().all(|host| host.slots > 0));
            }
        }
        let _ = orte_core::allocation::expand(&text);
    });
}

/// What Hydra 4.0 says, and a manager that claims more than it sends.
#[test]
fn lines_of_process_managers() {
    let corpus: &[&[u8]] = &[
        b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\ncmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n",
        b"cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n",
        b"cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\ncmd=get_result rc=-1 msg=key_not_found value=unknown\n",
        b"cmd=barrier_out\ncmd=put_result rc=0 msg=success\ncmd=appnum appnum=0\ncmd=universe_size size=-1\n",
        b"cmd=maxes vallen_max=1099511627776\n",
    ];
    fuzz(corpus, ROUNDS, |bytes| {
        let (mut read, mut taken) = (bytes.to_vec(), 0);
        while let Some(line) = take_line(&mut read) {
            taken += line.len() + 1;
            assert!(!line.contains(&b'\n'));
            if let Some(reply) = pmi1_wire::Reply::parse(&line) {
                assert!(reply.text().len() <= 200 && !reply.command().contains(' '));
                let _ = (reply.number::<usize>("vallen_max"), reply.is_refusal(), reply.value("value"));
            }
        }
        assert_eq!(taken + read.len(), bytes.len());
    });
}

/// What Slurm 22.05 says, and a manager that claims more than it sends.
#[test]
fn packets_of_process_managers() {
    let corpus: &[&[u8]] = &[
        b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n",
        b"89    cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=-1;debugged=0;",
        b"45    cmd=kvs-get-response;rc=0;found=TRUE;value=b;37    cmd=kvs-fence-response;rc=1;errmsg=a;;b;",
        b"999999cmd=info-getjobattr-response;value=(vector,(0,1099511627776,2));",
    ];
    fuzz(corpus, ROUNDS, |bytes| {
        let _ = pmi2_wire::version(bytes);
        let (mut read, mut taken) = (bytes.to_vec(), 0);
        while let Ok(Some(packet)) = pmi2_wire::take_packet(&mut read) {
            taken += packet.len() + 6;
            if let Some(reply) = pmi2_wire::Reply::parse(&packet) {
                assert!(reply.text().len() <= 200);
                let _ = (reply.command(), reply.number::<usize>("size"), reply.is_refusal(), reply.value("value"));
            }
        }
        assert_eq!(taken + read.len(), bytes.len());
    });
}

#[test]
fn placements_of_process_managers() {
    let corpus: &[&[u8]] = &[
        b"(vector,(0,2,2))",
        b"(vector,(0,1,1),(1,3,2),(0,4294967295,4294967295))",
        b"(vector,(4294967295,1,1099511627776))",
    ];
    fuzz(corpus, ROUNDS, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        assert!(nodes::of_job(Some(&text), 5, "", "").map_or(true, |nodes| nodes.len() == 5));
    });
}

#[test]
fn what_rank_0_says_of_a_directly_launched_job() {
    let job = job::Job { number: 0xfeed, secret: [7; 32] };
    fuzz(
        &[job.encode().as_bytes(), b"0.1.0:ffffffffffffffffff:00", b"9.9.9:::"],
        ROUNDS,
        |bytes| match job::Job::decode(&String::from_utf8_lossy(bytes)) {
            Ok(read) => assert_eq!(job::Job::decode(&read.encode()), Ok(read)),
            Err(sentence) => assert!(!sentence.is_empty()),
        },
    );
}

#[test]
fn messages_of_the_registry() {
    let mut registry = Registry::default();
    registry.add_segment(SegmentId::Nodes, 3).unwrap();
    registry.add_segment(SegmentId::Job(0), 6).unwrap();
    let power = registry.key("power", Kind::Text).unwrap();
    for node in 0..3 {
        registry.put(SegmentId::Nodes, node, key::NODE_NAME, Value::Text(["a", "bcd", "ef"][node as usize])).unwrap();
        registry.put(SegmentId::Nodes, node, power, Value::Text("500 W")).unwrap();
    }
    for rank in 0..6 {
        registry.put(SegmentId::Job(0), rank, key::PROC_NODE, Value::Number(u64::from(rank / 2))).unwrap();
        registry.put(SegmentId::Job(0), rank, key::PROC_PID, Value::Number(u64::from(rank * rank))).unwrap();
        registry.put(SegmentId::Job(0), rank, key::PROC_ADDRESSES, Value::Bytes(&[rank as u8; 6])).unwrap();
    }
    registry.put(SegmentId::Job(0), 4, key::PROC_STATUS, Value::Number(9)).unwrap();
    let image = registry.image();
    // Twenty bytes that claim containers and lengths beyond all memory.
    let claims = [1, 2, 0, 0, 0xff, 0xff, 0xff, 7, 1, 22, 3, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4];
    fuzz(&[&image, &claims], ROUNDS, |bytes| {
        let Ok(view) = View::new_checked(bytes) else { return };
        for section in view.sections() {
            for container in section.containers().take(100) {
                for (key, _) in section.columns() {
                    assert!(view.get(section.segment(), container, key).is_some());
                }
            }
        }
        let mut other = Registry::default();
        other.add_segment(SegmentId::Nodes, 3).unwrap();
        other.add_segment(SegmentId::Job(0), 6).unwrap();
        if other.apply(&view).is_ok() {
            let again = other.image();
            assert!(View::new_checked(&again).is_ok());
        }
    });
}

#[test]
fn frames_of_the_wire_up() {
    let map = JobMap { nodes: vec![0, 1, 2, 2, 1], node_count: 3, apps: vec![0; 5], names: Vec::new() };
    // Node 1 between its parent, node 0, and its child, node 2.
    let node = || {
        let mut node = Node::new(map.clone(), 1, vec![2]).unwrap();
        assert_eq!(node.addresses_complete(vec![(1, vec![1; 9]), (4, vec![4; 7])]).unwrap(), []);
        node
    };
    let addresses = |all: &[(u32, Vec<u8>)]| frame::addresses([&frame::sections(5, all).unwrap()[..]].into_iter());
    let below = addresses(&[(2, vec![7; 40]), (3, vec![8; 40])]);
    let above = addresses(&[(0, vec![9; 30])]);
    // Twenty bytes that claim 2⁴⁰ ranks.
    let claim =
        [frame::FORMAT, 1, 2, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 22, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    let corpus: [&[u8]; 5] = [&below, &above, &frame::reached(0), &frame::release(0), &claim];
    let sound = Cell::new(0);
    fuzz(&corpus, ROUNDS, |bytes| {
        let mut node = node();
        let Ok(actions) = node.from_child(2, bytes) else {
            // What was refused has left nothing behind.
            assert!(matches!(&node.from_child(2, &below).unwrap()[..], [Action::Up(_)]));
            return;
        };
        sound.set(sound.get() + 1);
        for action in actions {
            if let Action::Up(frame) = action {
                assert!(ModexFrame::new_checked(&frame).is_ok());
            }
        }
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
    fuzz(&corpus, ROUNDS, |bytes| {
        let mut node = node();
        node.from_child(2, &below).unwrap();
        node.barrier_reached();
        node.from_child(2, &frame::reached(0)).unwrap();
        for action in node.from_parent(bytes).unwrap_or_default() {
            match action {
                Action::Down(2, frame) => assert!(ModexFrame::new_checked(&frame).is_ok()),
                Action::Addresses(message) => assert!(View::new_checked(&message).is_ok()),
                Action::Release => {}
                other => panic!("a frame of the parent's makes no {other:?}"),
            }
        }
    });
}

#[test]
fn maps_of_jobs() {
    let map = |nodes: Vec<u32>, names: &[&str]| JobMap {
        node_count: 3,
        apps: nodes.iter().map(|node| node % 2).collect(),
        nodes,
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let corpus = [map(vec![0, 0, 1, 1, 2, 2], &["a", "b", "c"]), map(vec![2, 0, 1, 0, 0, 1], &[])];
    let corpus = corpus.map(|map| map.image().unwrap());
    fuzz(&[&corpus[0], &corpus[1]], ROUNDS, |bytes| {
        let Ok(map) = MapView::new_checked(bytes, 6) else { return };
        assert!((0..6).all(|rank| map.node_of(rank).is_some() && map.app_of(rank).is_some()));
        let _ = (map.name_of(0), map.name_of(u32::MAX));
    });
}

#[test]
fn published_transports() {
    let mut bytes = Vec::new();
    addresses::push(&mut bytes, "self", &[]);
    addresses::push(&mut bytes, "sm", &[7; 72]);
    addresses::push(&mut bytes, "tcp", &[8; 96]);
    fuzz(&[&bytes], ROUNDS, |bytes| {
        let (mut rest, mut taken) = (bytes, 0);
        while let Some((name, address)) = addresses::pop(&mut rest) {
            taken += 3 + name.len() + address.len();
        }
        assert_eq!(taken + rest.len(), bytes.len());
    });
}

#[test]
fn messages_of_the_keeper() {
    let all = [
        control::Message::Started(3, 4711),
        control::Message::NotStarted(0, 2),
        control::Message::Ended(9, 0x8b),
        control::Message::Signal(15, 1),
        control::Message::Finish,
    ];
    let packets = all.map(control::encode);
    let corpus: Vec<&[u8]> = packets.iter().map(|packet| &packet[..]).collect();
    fuzz(&corpus, ROUNDS, |bytes| {
        if let Some(message) = control::decode(bytes) {
            assert_eq!(control::decode(&control::encode(message)), Some(message));
            assert_eq!(bytes.len(), packets[0].len());
        }
    });
}

#[test]
fn headers_of_segments() {
    let layout = Layout::new(0xabcd, 5).unwrap();
    let header = layout.encode();
    fuzz(&[&header], ROUNDS, |bytes| {
        for file_bytes in [layout.bytes, 0, u64::MAX] {
            if let Ok(layout) = Layout::new_checked(bytes, file_bytes) {
                assert!(bytes.len() >= HEADER_BYTES && layout.bytes <= file_bytes);
                let last = layout.record(layout.ranks - 1).unwrap() as u64;
                assert!(last < layout.bytes && layout.record(layout.ranks).is_none());
            }
        }
    });
}

struct Words(Vec<AtomicU32>);

impl Shared for Words {
    fn bytes(&self) -> usize {
        self.0.len() * 4
    }
    fn word(&self, offset: usize) -> &AtomicU32 {
        &self.0[offset / 4]
    }
    fn sleep(&self, _offset: usize, _seen: u32, _timeout_us: u64) {}
    fn wake(&self, _offset: usize) {}
}

/// Whatever a process wrote into the control part, nobody reads behind it or waits for ever.
#[test]
fn records_of_segments() {
    let layout = Layout::new(7, 3).unwrap();
    for round in 0..2000 {
        let mut random = Random::new(round + 1);
        let words = (0..layout.control_bytes() / 4).map(|_| match random.below(4) {
            0 => AtomicU32::new(random.draw() as u32),
            1 => AtomicU32::new(u32::MAX),
            _ => AtomicU32::new(random.below(6) as u32),
        });
        let control = Control::new(layout, Words(words.collect())).unwrap();
        for rank in [0, 1, 2, 3, u32::MAX] {
            let _ = (control.lookup(rank, 0), control.state(rank), control.aborted(rank));
        }
        let _ = (control.lost(), control.epoch(), control.aborts());
    }
}

#[test]
fn what_mpirun_leaves_in_the_environment() {
    // In the order of `environment::ALL`: on one node, on several, and nonsense.
    let corpus: [&[u8]; 3] = [
        b"2 4 2 4 2 8 1 feed 200",
        b"2 4 1 2 1 8 1 feed 200 4711 210 211 213",
        b"4294967296 -1 0x10 4 8 1 2 g 9999999999999999999",
    ];
    let (sound, several) = (Cell::new(0), Cell::new(0));
    fuzz(&corpus, ROUNDS, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let words: Vec<&str> = text.split(' ').collect();
        let word = |name: &str| words.get(environment::ALL.iter().position(|known| *known == name)?).copied();
        match Contract::decode(word) {
            Ok(Some(contract)) => {
                sound.set(sound.get() + 1);
                several.set(several.get() + u32::from(contract.wireup.is_some()));
                assert!(contract.rank < contract.size && contract.local_rank < contract.local_size);
                assert_eq!(contract.wireup.is_some(), contract.local_size < contract.size);
            }
            Ok(None) => {}
            Err(sentence) => assert!(!sentence.is_empty()),
        }
    });
    assert!(sound.get() > several.get() && several.get() > 100, "mutations must not all be refused");
}

#[test]
fn parameter_files_and_values() {
    let file: &[u8] =
        b"# comment\nbtl = sm,self\nbtl_sm_eager_limit=4096 # why\nverbose\n = 7\nbtl_base_verbose = -1\n";
    fuzz(&[file, b"btl = ^tcp\n", "\u{fc}ml\u{e4}ut = \u{1f600}\n".as_bytes()], ROUNDS / 50, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut said = Vec::new();
        source::parse_file("fuzz.conf", &text, &mut said);
        assert!(said.len() <= text.lines().count());
        for assignment in &said {
            assert!(
                matches!(assignment.source, Source::File("fuzz.conf", line) if line as usize <= text.lines().count())
            );
            let selection = Selection::parse(assignment.value);
            let _ = selection.wants("sm");
        }
        // A bad value is a sentence that names the parameter.
        for problem in source::apply(opal_core::framework::ALL, &[], &said) {
            assert!(!problem.text.is_empty());
        }
    });
}

#[test]
fn files_of_hosts() {
    let corpus: [&[u8]; 4] = [b"localhost slots=4 max_slots=8 # here", b"localhost:3", b"::1 slots=*", b"node7 cpu=2"];
    fuzz(&corpus, ROUNDS / 5, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for line in text.lines() {
            match hosts::of_line(line, "a file, line 1") {
                Ok(_) => {}
                Err(refusal) => assert!(refusal.status == 125 && refusal.sentence.contains("a file, line 1")),
            }
        }
    });
}

#[test]
fn files_of_ranks() {
    let corpus: [&[u8]; 3] =
        [b"rank 1=+n0 slot=p3 # here\nrank 0=a slot=0-1\n", b"rank 0=b slot=1:0,2", b"rank 1048576=a slot=0"];
    let sound = Cell::new(0);
    fuzz(&corpus, ROUNDS / 5, |bytes| match rank_lines::parse(&String::from_utf8_lossy(bytes), "a file") {
        Ok(lines) => {
            sound.set(sound.get() + 1);
            assert!(!lines.is_empty() && lines.iter().all(|line| line.from.starts_with("a file, line ")));
        }
        Err(refusal) => assert!(refusal.status == 125 && refusal.sentence.contains("a file")),
    });
    assert!(sound.get() > 100, "mutations must not all be refused");
}

/// Twelve records of each kind under the same key, as btl/tcp's wire has them. The files say that the format has not changed.
fn records(protect: record::Protect) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut random = Random::new(7);
    let mut sealer = record::Sealer::new(protect, &[9; 32]);
    let bodies: Vec<Vec<u8>> = (0..12).map(|_| (0..=random.below(90)).map(|_| random.draw() as u8).collect()).collect();
    let mut stream = Vec::new();
    bodies.iter().for_each(|body| sealer.seal(body, &mut stream));
    (bodies, stream)
}

/// Of a stream: bodies that were believed, and whether it was refused then.
fn opened(protect: record::Protect, mut bytes: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut opener = record::Opener::new(protect, &[9; 32]);
    let mut bodies = Vec::new();
    loop {
        match opener.open() {
            Ok(Some(body)) => bodies.push(opener.body(body).to_vec()),
            Err(record::Forged) => return (bodies, true),
            Ok(None) if bytes.is_empty() => return (bodies, false),
            Ok(None) => {
                let room = opener.room();
                let cut = room.len().min(bytes.len()).min(50);
                assert!(cut > 0, "no room although no record is complete");
                room[..cut].copy_from_slice(&bytes[..cut]);
                opener.filled(cut);
                bytes = &bytes[cut..];
            }
        }
    }
}

#[test]
fn tcp_records() {
    const AUTH: &[u8] = include_bytes!("../corpus/tcp_records/auth.bin");
    const ENCRYPT: &[u8] = include_bytes!("../corpus/tcp_records/encrypt.bin");
    for (protect, corpus) in [(record::Protect::Auth, AUTH), (record::Protect::Encrypt, ENCRYPT)] {
        let (bodies, stream) = records(protect);
        assert!(stream == corpus, "the format of records has changed: {protect:?}");
        assert_eq!(opened(protect, corpus), (bodies.clone(), false));
        let refused = Cell::new(0);
        fuzz(&[corpus], ROUNDS / 5, |bytes| {
            let (believed, is_refused) = opened(protect, bytes);
            refused.set(refused.get() + u64::from(is_refused));
            assert!(
                bodies.starts_with(&believed),
                "{} bodies were believed, not all of them as they were sent",
                believed.len()
            );
        });
        assert!(refused.get() > ROUNDS / 20, "mutations must be noticed: {}", refused.get());
    }
}
