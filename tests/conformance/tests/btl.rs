//! The suite of framework btl for every component, and the protocol of sleeping and waking.

#![allow(unsafe_code)] // fork, and calls of transports

use opal_core::framework::btl::{self, Peer};
use opal_core::framework::netif::{self as netif_framework, Mac, Module as Card, use_cards};
use opal_core::framework::shmem;
use opal_core::mca::pvar::Reading;
use opal_core::mca::{Component as _, Source, Value};
use opal_core::{progress, sys, wait};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use test_conformance::btl::{Fixture, between_two, remote_between_two, suite};
use test_conformance::btl_remote;
use test_conformance::forger::Forger;
use test_conformance::late::{Late, Mistake};
use test_conformance::netif;
use test_conformance::pair::{self, Pair};
use test_conformance::veth;

opal_core::image![
    opal_core::framework::atomics,
    memcpy_portable,
    shmem_memfd,
    btl_eth,
    btl_ofi,
    btl_self,
    btl_sm,
    btl_tcp,
    btl_uct,
    netif_packet,
];

fn main() {
    // Each test in processes of its own: components are opened once per process.
    let tests: [(&str, fn()); 32] = [
        ("self", own),
        ("self, memory of the peer", || remote(None)),
        ("operations that take their time", || late(None)),
        ("mistakes with memory of the peer are seen", mistakes),
        ("sm", sm),
        ("sm refuses strangers", strangers),
        ("tcp", tcp),
        ("eth over a socket", eth),
        ("eth among forged frames", eth_forged),
        ("eth over packet sockets", || eth_of_the_system(1500)),
        ("eth over packet sockets, jumbo frames", || eth_of_the_system(9000)),
        ("ofi: tcp;ofi_rxm", || ofi("tcp;ofi_rxm")),
        ("ofi: net", || ofi("net")),
        ("ofi: sockets", || ofi("sockets")),
        ("ofi: tcp;ofi_rxm, memory of the peer", || ofi_remote("tcp;ofi_rxm")),
        ("ofi: net, memory of the peer", || ofi_remote("net")),
        ("ofi: sockets, memory of the peer", || ofi_remote("sockets")),
        ("ofi: tcp;ofi_rxm, memory of its own", || ofi_own_memory("tcp;ofi_rxm", true)),
        ("ofi: net, memory of its own", || ofi_own_memory("net", false)),
        ("ofi: sockets, memory of its own", || ofi_own_memory("sockets", true)),
        ("uct: tcp", || uct("tcp")),
        ("uct: posix", || uct("posix")),
        ("uct: sysv", || uct("sysv")),
        ("uct: posix,cma", || uct("posix,cma")),
        ("uct: posix,cma, memory of the peer", uct_remote),
        ("uct refuses strangers", uct_strangers),
        ("uct: messages of another job", uct_forged),
        ("sleep and wake", sleep_and_wake),
        ("one sleep for memory and sockets", || one_sleep(connected_tcp)),
        ("one sleep for memory and a card", one_sleep_with_a_card),
        ("one sleep for memory and a fabric", || one_sleep_with_a_fabric(false)),
        ("one sleep for memory, sockets and a fabric", || one_sleep_with_a_fabric(true)),
    ];
    let only = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    for (name, test) in tests.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| name.contains(only))) {
        in_a_child(name, *test);
        println!("test {name} ... ok");
    }
}

fn in_a_child(name: &str, test: fn()) {
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        test();
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: a child of this process.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0), "test {name} failed");
}

fn own() {
    let module = btl::Component::query(&btl_self::COMPONENT).expect("it runs")[0];
    let stranger = Peer { index: 4, is_self: false, same_node: true, address: &[] };
    assert_eq!(module.add_peer(stranger).unwrap(), None);
    let endpoint = module.add_peer(Peer { index: 3, is_self: true, ..stranger }).unwrap().expect("it reaches itself");
    suite(&mut Fixture { module, endpoint, side: 0, other: 0, peer: 3, barrier: &mut || {} });
}

/// Over btl/self, which does everything at once, or over one that takes its time.
fn remote(late: Option<Late>) {
    let module = btl::Component::query(&btl_self::COMPONENT).expect("it runs")[0];
    let itself = Peer { index: 3, is_self: true, same_node: true, address: &[] };
    let endpoint = module.add_peer(itself).unwrap().expect("it reaches itself");
    let module = late.map_or(module, |late| Box::leak(Box::new(late)));
    btl_remote::suite(&mut btl_remote::Fixture { module, endpoint, exchange: &mut <[u8]>::to_vec });
}

fn late(mistake: Option<Mistake>) {
    let under = btl::Component::query(&btl_self::COMPONENT).expect("it runs")[0];
    remote(Some(Late::over(under, mistake)));
}

fn mistakes() {
    use Mistake::{AnyKey, Dropped, Early, NewValue, NotDone, Twice};
    for mistake in [Early, Twice, NotDone, NewValue, Dropped, AnyKey] {
        std::panic::set_hook(Box::new(|_| {}));
        let seen = std::panic::catch_unwind(|| late(Some(mistake))).is_err();
        drop(std::panic::take_hook());
        assert!(seen, "the suite does not see {mistake:?}");
        btl_remote::forget();
    }
}

fn opened(pair: &Pair) -> &'static dyn btl::Module {
    shmem::select(Some(pair.inherited)).expect("shmem/memfd runs");
    btl_sm::COMPONENT.open().expect("it opens");
    btl::Component::query(&btl_sm::COMPONENT).expect("it runs")[0]
}

fn connected(pair: &mut Pair) -> (&'static dyn btl::Module, btl::Endpoint) {
    let module = opened(pair);
    let address = pair.exchange(&module.address());
    let peer = Peer { index: 10 + pair.side, is_self: false, same_node: true, address: &address };
    let endpoint = module.add_peer(peer).expect("the address is good").expect("it is reached");
    pair.barrier();
    (module, endpoint)
}

fn sm() {
    between_two(&btl_sm::COMPONENT);
}

/// Over every interface that two processes of one node have in common: the loopback.
fn tcp() {
    let mut pair = pair::fork();
    let side = pair.side;
    let (modules, address) = opened_tcp(&mut pair);
    let peer = Peer { index: 1 - side, is_self: false, same_node: true, address: &address };
    let mut reached = modules.iter().filter_map(|module| Some((*module, module.add_peer(peer).expect("it is good")?)));
    let (module, endpoint) = reached.next().expect("it is reached");
    assert!(reached.next().is_none(), "one path is enough within a node");
    pair.barrier();
    // The polls of the suite are those of one module; the first one looks for all.
    assert_eq!(module.add_peer(peer).map(drop), Err(opal_core::Error::Exists), "twice");
    let mut fixture =
        Fixture { module, endpoint, side, other: 1 - side, peer: 1 - side, barrier: &mut || pair.barrier() };
    suite(&mut fixture);
    pair.end();
}

/// The modules, and what the peer's published.
fn opened_tcp(pair: &mut Pair) -> (Vec<&'static dyn btl::Module>, Vec<u8>) {
    btl::set_job(btl::Job { number: 4711, index: pair.side, size: 2, one_node: true, secret: [42; 32] });
    btl_tcp::COMPONENT.open().expect("it opens");
    let modules = btl::Component::query(&btl_tcp::COMPONENT).expect("it runs");
    let own: Vec<u8> = modules.iter().flat_map(|module| module.address()).collect();
    let address = pair.exchange(&own);
    (modules, address)
}

/// Over a card whose wire is a pair of sockets; the two bring it before the transport is opened.
fn eth() {
    let [here, there] = netif::sockets();
    let pair = pair::fork();
    let card = socket_card(if pair.side == 0 { here } else { there }, pair.side);
    use_cards(vec![netif_framework::Card { name: "socket", module: Box::leak(Box::new(card)) }]);
    suite_of_eth(pair);
}

/// What was not made with the job's secret changes nothing, and is counted.
fn eth_forged() {
    let [here, there] = netif::sockets();
    let pair = pair::fork();
    let card = Forger::over(socket_card(if pair.side == 0 { here } else { there }, pair.side));
    use_cards(vec![netif_framework::Card { name: "forger", module: Box::leak(Box::new(card)) }]);
    suite_of_eth(pair);
}

fn socket_card(socket: std::net::UdpSocket, side: u32) -> impl Card + 'static {
    netif::SocketCard::new(socket, Mac([2, 0, 0, 0, 0, side as u8]))
}

/// Over an interface of the system.
fn eth_of_the_system(mtu: u32) {
    if !wired() {
        return;
    }
    for end in veth::ENDS {
        veth::ip(&["link", "set", end, "mtu", &mtu.to_string()]).expect("virtual wires have long frames");
    }
    let pair = pair::fork();
    use_own_end(pair.side);
    suite_of_eth(pair);
}

/// Whether this process has a wire of the system's; says why not.
fn wired() -> bool {
    veth::lay().inspect_err(|why| println!("skipped: {why}")).is_ok()
}

fn use_own_end(side: u32) {
    // The first name is none of this machine.
    let names = ["none,one", "none,two"][side as usize];
    assert!(netif_packet::IF.set_value(Value::Text(names), Source::Program));
    netif_framework::open().expect("the list is right");
    let mac = netif_framework::cards().first().expect("the system gives raw frames").module.caps().mac;
    assert!(mac.is_one_card());
}

fn suite_of_eth(mut pair: Pair) {
    let module = opened_eth(pair.side);
    let address = pair.exchange(&module.address());
    let add = |index: u32, address: &[u8]| {
        let peer = Peer { index, is_self: false, same_node: false, address };
        module.add_peer(peer)
    };
    let other = 1 - pair.side;
    assert_eq!(add(2, &address), Ok(None), "no rank of the job");
    assert_eq!(add(other, &[]), Ok(None), "it has no card");
    assert_eq!(add(other, &module.address()), Ok(None), "it has the same card");
    assert_eq!(add(other, &address[..11]), Err(opal_core::Error::Malformed), "cut off");
    assert_eq!(add(other, &[0; 12]), Err(opal_core::Error::Mismatch), "another wire format");
    let endpoint = add(other, &address).expect("the address is good").expect("it is reached");
    assert_eq!(add(other, &address), Ok(None), "twice");
    pair.barrier();
    let side = pair.side;
    suite(&mut Fixture { module, endpoint, side, other, peer: other, barrier: &mut || pair.barrier() });
    let forged = netif_framework::cards()[0].name == "forger";
    assert_eq!(count_of_eth("forged") > 1000, forged, "{}", count_of_eth("forged"));
    pair.end();
}

fn opened_eth(side: u32) -> &'static dyn btl::Module {
    btl::set_job(btl::Job { number: 4711, index: side, size: 2, one_node: false, secret: [42; 32] });
    btl_eth::COMPONENT.open().expect("it opens");
    btl::Component::query(&btl_eth::COMPONENT).expect("it runs")[0]
}

fn count_of_eth(name: &str) -> u64 {
    count_of(&btl_eth::COMPONENT, name)
}

fn count_of(component: &dyn opal_core::mca::Component, name: &str) -> u64 {
    let pvar = component.info().pvars.iter().find(|pvar| pvar.name == name).expect("it has this one");
    match pvar.reading {
        Reading::Of(read) => read(),
        _ => panic!("{name} is a number"),
    }
}

/// Over a provider of libfabric, by the loopback. Where libfabric is not installed there is nothing to run.
fn ofi(provider: &'static str) {
    if has_libfabric() {
        take_provider(provider);
        between_two(&btl_ofi::COMPONENT);
    }
}

fn ofi_remote(provider: &'static str) {
    if has_libfabric() {
        take_provider(provider);
        remote_between_two(&btl_ofi::COMPONENT);
    }
}

/// A process reaches its own memory by the fabric, because processors and fabric are not atomic with each other.
fn ofi_own_memory(provider: &'static str, has_atomics: bool) {
    if has_libfabric() {
        take_provider(provider);
        btl::set_job(btl::Job { number: 4711, index: 0, size: 2, one_node: true, secret: [42; 32] });
        btl_ofi::COMPONENT.open().expect("it opens");
        let module = btl::Component::query(&btl_ofi::COMPONENT).expect("it runs")[0];
        let endpoint = module.own_endpoint().expect("the fabric takes it").expect("it reaches memory");
        assert_eq!(module.own_endpoint(), Ok(Some(endpoint)), "the same again");
        let caps = module.caps().remote;
        let all = if has_atomics { btl::AtomicSet::ALL } else { btl::AtomicSet::NONE };
        assert_eq!((caps.atomics_of_4, caps.atomics_of_8, caps.atomic_with_processors), (all, all, false));
        btl_remote::suite(&mut btl_remote::Fixture { module, endpoint, exchange: &mut <[u8]>::to_vec });
    }
}

fn has_libfabric() -> bool {
    // SAFETY: a text with a zero at its end.
    let has = !unsafe { libc::dlopen(c"libfabric.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) }.is_null();
    if !has {
        eprintln!("skipped: this machine has no libfabric.so.1 (Debian: libfabric1)");
    }
    has
}

fn take_provider(provider: &'static str) {
    let params = btl_ofi::INFO.params.iter();
    let param = params.copied().find(|param| param.name == "provider_include").expect("it has this parameter");
    param.set(provider, Source::Environment).expect("a text");
}

/// Over a transport of UCX. Where UCX is not installed there is nothing to run.
fn uct(transports: &'static str) {
    if has_ucx() {
        take_transports(transports);
        between_two(&btl_uct::COMPONENT);
    }
}

fn uct_remote() {
    if has_ucx() {
        take_transports("posix,cma");
        remote_between_two(&btl_uct::COMPONENT);
    }
}

/// What a peer cannot have published, and what it has published where nothing would work.
fn uct_strangers() {
    if !has_ucx() {
        return;
    }
    let mut pair = pair::fork();
    let module = opened_uct(pair.side, 42);
    let theirs = pair.exchange(&module.address());
    let index = 1 - pair.side;
    let add = |address: &[u8]| {
        module.add_peer(Peer { index, is_self: false, same_node: true, address }).map(|endpoint| endpoint.is_some())
    };
    let changed = |at: usize| {
        let mut address = theirs.clone();
        address[at] ^= 1;
        address
    };
    assert_eq!(add(&changed(0)), Err(opal_core::Error::Mismatch), "another wire format");
    assert_eq!(add(&changed(4)), Err(opal_core::Error::Mismatch), "messages of another length");
    assert_eq!(add(&changed(9)), Err(opal_core::Error::Mismatch), "another version of UCX");
    assert_eq!(add(&changed(11)), Err(opal_core::Error::Mismatch), "another transport");
    assert_eq!(add(&theirs[..theirs.len() - 1]), Err(opal_core::Error::Malformed), "cut off");
    assert_eq!(add(&[]), Ok(false), "it has no UCX");
    assert_eq!(add(&theirs), Ok(true));
    assert_eq!(add(&theirs), Err(opal_core::Error::Exists), "twice");
    pair.end();
}

/// What was not made with the job's secret is dropped and counted.
fn uct_forged() {
    if !has_ucx() {
        return;
    }
    let mut pair = pair::fork();
    btl::register_handler(0, |_, _, _| panic!("a message of another job was delivered")).expect("the id is free");
    let module = opened_uct(pair.side, 42 + pair.side as u8);
    let address = pair.exchange(&module.address());
    let peer = Peer { index: 1 - pair.side, is_self: false, same_node: true, address: &address };
    let endpoint = module.add_peer(peer).expect("it is good").expect("it is reached");
    let dropped = || count_of(&btl_uct::COMPONENT, "dropped");
    let end = Instant::now() + Duration::from_secs(60);
    let mut sent = false;
    while !sent || dropped() == 0 {
        sent = sent || module.send(endpoint, 0, 7, 0, &mut |_| {}).is_ok();
        assert_eq!(module.poll(), 0, "it counts as a message");
        assert!(Instant::now() < end, "it never came");
    }
    assert_eq!(dropped(), 1);
    pair.barrier();
    pair.end();
}

fn opened_uct(side: u32, secret: u8) -> &'static dyn btl::Module {
    take_transports("tcp");
    btl::set_job(btl::Job { number: 4711, index: side, size: 2, one_node: true, secret: [secret; 32] });
    btl_uct::COMPONENT.open().expect("it opens");
    btl::Component::query(&btl_uct::COMPONENT).expect("it runs")[0]
}

fn has_ucx() -> bool {
    // SAFETY: a text with a zero at its end.
    let has = !unsafe { libc::dlopen(c"libucp.so.0".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) }.is_null();
    if !has {
        eprintln!("skipped: this machine has no libucp.so.0 (Debian: libucx0)");
    }
    has
}

fn take_transports(transports: &'static str) {
    let params = btl_uct::INFO.params.iter();
    let param = params.copied().find(|param| param.name == "transports").expect("it has this parameter");
    param.set(transports, Source::Environment).expect("a text");
}

fn strangers() {
    let mut pair = pair::fork();
    let module = opened(&pair);
    let theirs = pair.exchange(&module.address());
    let add = |address: &[u8], same_node: bool| {
        module.add_peer(Peer { index: 1, is_self: false, same_node, address }).map(|endpoint| endpoint.is_some())
    };
    let changed = |at: usize| {
        let mut address = theirs.clone();
        address[at] ^= 1;
        address
    };
    assert_eq!(add(&theirs, false), Ok(false), "on another node");
    assert_eq!(add(&changed(0), true), Err(opal_core::Error::Mismatch), "another wire format");
    assert_eq!(add(&theirs[..20], true), Err(opal_core::Error::Malformed), "cut off");
    assert_eq!(add(&changed(8), true), Err(opal_core::Error::Malformed), "this rank's own number");
    assert_eq!(add(&changed(12), true), Err(opal_core::Error::Malformed), "another number of ranks");
    assert_eq!(add(&theirs, true), Ok(true));
    assert_eq!(add(&theirs, true), Err(opal_core::Error::Malformed), "twice");
    pair.end();
}

static SEEN: AtomicU64 = AtomicU64::new(0);

/// Messages that come long after, about when, and just before the receiver goes to sleep. A wake-up that is lost costs the
/// rest of a sleep (20 ms); a busy machine does that now and then, the lack of a wake-up always. Each message carries the
/// time at which it was sent.
fn sleep_and_wake() {
    const TURNS: u64 = 600;
    const TIMES: u64 = (1 << 50) - 1;
    let mut pair = pair::fork();
    btl::register_handler(0, |_, immediate, _| SEEN.store(immediate, Ordering::Relaxed)).expect("the id is free");
    let (module, endpoint) = connected(&mut pair);
    progress::add_transport(module).expect("there is a place");
    let (mut late, mut state) = (0, 88172645463325252u64 + u64::from(pair.side));
    for turn in 1..=TURNS {
        if turn % 2 == u64::from(pair.side) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let pause = Duration::from_micros(if turn % 5 == 0 { 5000 } else { 900 + state % 300 });
            let start = Instant::now();
            while start.elapsed() < pause {
                std::hint::spin_loop();
            }
            let now = sys::monotonic_ns() & TIMES;
            // SAFETY: nothing is read.
            let sent = unsafe { module.send_inline(endpoint, 0, now, std::ptr::null(), 0) };
            assert_eq!(sent, Ok(()));
        } else {
            let (before, last) = (wait::sleeps(), SEEN.load(Ordering::Relaxed));
            wait::until(|| SEEN.load(Ordering::Relaxed) != last).expect("nobody dies");
            let (after, sent) = (wait::sleeps(), SEEN.load(Ordering::Relaxed));
            // A busy machine delays both ends; the sleeper was woken all the same.
            let forgotten = after.woken == before.woken && after.timed_out > before.timed_out;
            late += u64::from(forgotten && (sys::monotonic_ns() & TIMES).wrapping_sub(sent) > 2_000_000);
        }
    }
    assert!(late < TURNS / 20, "{late} of {} waits were not ended by the message they waited for", TURNS / 2);
    pair.end();
}

/// A process that can be reached through memory and through sockets sleeps, and either wakes it: not the end of the time
/// that a sleep may last.
fn one_sleep(network: fn(&mut Pair) -> Connected) {
    const TURNS: u64 = 40;
    let mut pair = pair::fork();
    btl::register_handler(0, |_, immediate, _| SEEN.store(immediate, Ordering::Relaxed)).expect("the id is free");
    // First: where btl/sm runs it would have nothing to do on one node.
    let network = network(&mut pair);
    let sm = connected(&mut pair);
    progress::add_transport(sm.0).expect("there is a place");
    pair.barrier();
    let before = (wait::sleeps(), cpu_time(), Instant::now());
    for turn in 1..=TURNS {
        let (module, endpoint) = if turn % 2 == 0 { sm } else { network };
        if pair.side == 0 {
            // Longer than a sleep may last, so that the receiver has been asleep for a while.
            std::thread::sleep(Duration::from_millis(if turn % 4 < 2 { 30 } else { 12 }));
            // SAFETY: nothing is read.
            let sent = unsafe { module.send_inline(endpoint, 0, turn, std::ptr::null(), 0) };
            assert_eq!(sent, Ok(()));
            while !module.is_drained() {
                progress::pass();
            }
        } else {
            wait::until(|| SEEN.load(Ordering::Relaxed) == turn).expect("nobody dies");
        }
        if turn == 1 {
            // The receiver's end of the connection is made while somebody polls.
            progress::pass();
        }
    }
    if pair.side == 1 {
        let (sleeps, used, passed) = (wait::sleeps(), cpu_time() - before.1, before.2.elapsed());
        // A busy machine now and then wakes the sender before this process falls asleep.
        assert!(
            sleeps.woken - before.0.woken >= TURNS / 4,
            "of {} messages in memory few ended a sleep: {sleeps:?}",
            TURNS / 2
        );
        assert!(
            sleeps.socket - before.0.socket >= TURNS / 4,
            "of {} at sockets few ended a sleep: {sleeps:?}",
            TURNS / 2
        );
        assert!(sleeps.timed_out - before.0.timed_out <= 4 * TURNS, "sleeps of a millisecond: {sleeps:?}");
        assert!(used < passed / 2, "{used:?} of {passed:?} were spent awake");
    }
    pair.end();
}

type Connected = (&'static dyn btl::Module, btl::Endpoint);

/// Polled from now on.
fn connected_tcp(pair: &mut Pair) -> Connected {
    let (modules, address) = opened_tcp(pair);
    let peer = Peer { index: 1 - pair.side, is_self: false, same_node: true, address: &address };
    let reached = |module: &&'static dyn btl::Module| Some((*module, module.add_peer(peer).expect("it is good")?));
    let tcp = modules.iter().find_map(reached).expect("it is reached");
    modules.iter().for_each(|module| progress::add_transport(*module).expect("there is a place"));
    tcp
}

fn one_sleep_with_a_card() {
    if wired() {
        one_sleep(|pair| {
            use_own_end(pair.side);
            let module = opened_eth(pair.side);
            let address = pair.exchange(&module.address());
            let peer = Peer { index: 1 - pair.side, is_self: false, same_node: false, address: &address };
            let endpoint = module.add_peer(peer).expect("it is good").expect("it is reached");
            progress::add_transport(module).expect("there is a place");
            (module, endpoint)
        });
    }
}

/// The descriptor of its completion queue stands alone, or beside btl/tcp's sockets.
fn one_sleep_with_a_fabric(with_sockets: bool) {
    if !has_libfabric() {
        return;
    }
    one_sleep(if with_sockets { connected_tcp_and_ofi } else { connected_ofi });
}

fn connected_tcp_and_ofi(pair: &mut Pair) -> Connected {
    connected_tcp(pair);
    connected_ofi(pair)
}

fn connected_ofi(pair: &mut Pair) -> Connected {
    btl::set_job(btl::Job { number: 4711, index: pair.side, size: 2, one_node: true, secret: [42; 32] });
    take_provider("tcp;ofi_rxm");
    let module = btl::Component::query(&btl_ofi::COMPONENT).expect("it runs")[0];
    let address = pair.exchange(&module.address());
    let peer = Peer { index: 1 - pair.side, is_self: false, same_node: true, address: &address };
    let endpoint = module.add_peer(peer).expect("it is good").expect("it is reached");
    progress::add_transport(module).expect("there is a place");
    (module, endpoint)
}

fn cpu_time() -> Duration {
    // SAFETY: all zeros are a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a place for what this process used.
    let got = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    assert_eq!(got, 0);
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}
