//! What a transport promises that reaches memory of its peers: bytes at their place, atomic operations as their names say, and one
//! completion for each operation that is not complete at once.

use opal_core::framework::btl::{
    Atomic, Begun, Completion, Endpoint, Full, KEY_BYTES_MAX, Module, Registration, Remote, RemoteCaps, Width,
};
use opal_core::{Error, Result};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A running transport with one peer, which runs the same suite, or which this process is itself.
pub struct Fixture<'a> {
    /// The transport.
    pub module: &'static dyn Module,
    /// Its number for the peer.
    pub endpoint: Endpoint,
    /// Gives the peer some bytes and takes its.
    pub exchange: &'a mut dyn FnMut(&[u8]) -> Vec<u8>,
}

/// Runs every case.
///
/// # Panics
/// At the first broken promise.
pub fn suite(fixture: &mut Fixture<'_>) {
    let Fixture { module, endpoint, .. } = *fixture;
    let caps = module.caps().remote;
    assert!(caps.put_bytes >= 8 && caps.get_bytes >= 8, "it offers something: {caps:?}");
    let own = Box::leak(vec![0u64; WORDS].into_boxed_slice()).as_mut_ptr();
    let registration = module.register_memory(own.cast(), WORDS * 8).expect("so little memory can be registered");
    let Registration { key, .. } = &registration;
    assert!(key.len() <= KEY_BYTES_MAX);
    let told = [&(own as u64).to_ne_bytes()[..], key].concat();
    let told = (fixture.exchange)(&told);
    assert_eq!(module.import_key(endpoint, &[0x5a; KEY_BYTES_MAX + 1]), Err(Error::Malformed), "no key is so long");
    let key = module.import_key(endpoint, &told[8..]).expect("the key is good");
    let address = u64::from_ne_bytes(told[..8].try_into().unwrap());
    let peer = Reached { module, endpoint, caps, own, address, key };
    for case in [puts, gets, atomics, all_at_once] {
        case(&peer, &mut *fixture.exchange);
        (fixture.exchange)(&[]);
    }
    module.drop_key(endpoint, key);
    (fixture.exchange)(&[]);
    module.unregister_memory(registration);
    let ended = std::mem::take(&mut *ENDED.lock().unwrap());
    assert_eq!(ended, [], "completions that nobody waits for");
}

/// Forgets what a suite left that panicked.
pub fn forget() {
    ENDED.clear_poison();
    ENDED.lock().unwrap().clear();
}

/// The peer's memory, and this process's, which looks alike.
struct Reached {
    module: &'static dyn Module,
    endpoint: Endpoint,
    caps: RemoteCaps,
    own: *mut u64,
    address: u64,
    key: u64,
}

impl Reached {
    fn at(&self, byte: usize) -> Remote {
        Remote { address: self.address + byte as u64, key: self.key }
    }

    fn put(&self, byte: usize, from: &[u8], done: Completion) -> core::result::Result<Begun, Full> {
        assert!(byte + from.len() <= WORDS * 8);
        // SAFETY: the peer has registered so much; callers keep what is written until the operation is complete.
        unsafe { self.module.put(self.endpoint, from.as_ptr(), self.at(byte), from.len(), done) }
    }

    fn atomic(&self, word: usize, atomic: Atomic, width: Width, done: Completion) -> core::result::Result<Begun, Full> {
        // SAFETY: a word of the memory that the peer has registered.
        unsafe { self.module.atomic(self.endpoint, self.at(word * 8), atomic, width, done) }
    }

    /// An operation to its end; what it found.
    fn wait(&self, mut begin: impl FnMut(Completion) -> core::result::Result<Begun, Full>) -> u64 {
        let done = Completion { call: note, token: TOKEN };
        let deadline = Instant::now() + LIMIT;
        loop {
            match begin(done) {
                Ok(Begun::Done(found)) => return found,
                Ok(Begun::Later) => break,
                Err(Full) => _ = self.module.poll(),
            }
            assert!(Instant::now() < deadline, "it is full for ever");
        }
        assert_eq!(*ENDED.lock().unwrap(), [], "it is complete before a poll");
        loop {
            self.module.poll();
            if let Some((token, ended)) = ENDED.lock().unwrap().pop() {
                assert_eq!(token, TOKEN);
                return ended.expect("the peer lives");
            }
            assert!(Instant::now() < deadline, "it is never complete");
        }
    }

    fn read_own(&self, byte: usize, bytes: usize) -> Vec<u8> {
        let at = self.own.cast::<u8>();
        // SAFETY: in this process's memory, which nobody writes between two exchanges.
        (byte..byte + bytes).map(|place| unsafe { at.wrapping_add(place).read_volatile() }).collect()
    }

    fn write_own(&self, word: usize, value: u64) {
        // SAFETY: as in `read_own`.
        unsafe { self.own.wrapping_add(word).write_volatile(value) };
    }
}

type Exchange<'a> = &'a mut dyn FnMut(&[u8]) -> Vec<u8>;

fn puts(peer: &Reached, exchange: Exchange<'_>) {
    for (turn, bytes) in SIZES.into_iter().filter(|bytes| *bytes <= peer.caps.put_bytes).enumerate() {
        for skip in [0, 1, 5] {
            let data = pattern(turn, bytes);
            peer.wait(|done| peer.put(8 + skip, &data, done));
            exchange(&[]);
            assert_eq!(peer.read_own(8 + skip, bytes), data, "{bytes} bytes at {skip}");
            assert_eq!(peer.read_own(0, 8), [0; 8], "nothing before them was written");
            exchange(&[]);
        }
    }
}

fn gets(peer: &Reached, exchange: Exchange<'_>) {
    (0..WORDS).for_each(|word| peer.write_own(word, (word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    exchange(&[]);
    for bytes in SIZES.into_iter().filter(|bytes| *bytes <= peer.caps.get_bytes) {
        for skip in [0, 1, 5] {
            let mut data = vec![0; bytes + 1];
            let (to, remote) = (data.as_mut_ptr(), peer.at(skip));
            // SAFETY: there is room, which nobody looks at before the operation is complete.
            peer.wait(|done| unsafe { peer.module.get(peer.endpoint, to, remote, bytes, done) });
            assert_eq!(data[..bytes], peer.read_own(skip, bytes), "{bytes} bytes at {skip}");
            assert_eq!(data[bytes], 0, "nothing behind them was written");
        }
    }
}

fn atomics(peer: &Reached, exchange: Exchange<'_>) {
    let all = [
        Atomic::Add(0xffff_ffff_0000_0003),
        Atomic::And(0x0ff0_f0f0_0ff0_00ff),
        Atomic::Or(0x8000_0000_8000_0001),
        Atomic::Xor(u64::MAX),
        Atomic::Swap(0x0123_4567_89ab_cdef),
        Atomic::CompareSwap(0x0123_4567_89ab_cdef, 7),
        Atomic::CompareSwap(8, 9),
    ];
    for (width, mask) in [(Width::Four, u64::from(u32::MAX)), (Width::Eight, u64::MAX)] {
        peer.write_own(3, 0x1122_3344_5566_7788);
        exchange(&[]);
        let (mut there, rest) = (0x1122_3344_5566_7788 & mask, 0x1122_3344_5566_7788 & !mask);
        for atomic in all.into_iter().filter(|atomic| peer.caps.atomics(width).has(*atomic)) {
            let found = peer.wait(|done| peer.atomic(3, atomic, width, done));
            assert_eq!(found, there, "{width:?} {atomic:?}");
            there = mask & model(there, atomic, mask);
        }
        exchange(&[]);
        let word = u64::from_ne_bytes(peer.read_own(24, 8).try_into().unwrap());
        // Little-endian: the shorter word comes first.
        assert_eq!(word, there | rest, "{width:?}");
        exchange(&[]);
    }
}

fn model(there: u64, atomic: Atomic, mask: u64) -> u64 {
    match atomic {
        Atomic::Add(operand) => there.wrapping_add(operand),
        Atomic::And(operand) => there & operand,
        Atomic::Or(operand) => there | operand,
        Atomic::Xor(operand) => there ^ operand,
        Atomic::Swap(operand) => operand,
        Atomic::CompareSwap(expected, new) => {
            if there == expected & mask {
                new
            } else {
                there
            }
        }
    }
}

/// As many as it takes, and one completion for each of them.
fn all_at_once(peer: &Reached, exchange: Exchange<'_>) {
    (0..WORDS).for_each(|word| peer.write_own(word, 0));
    exchange(&[]);
    let data: Vec<[u8; 8]> = (0..MANY).map(|number| (number as u64 + 1).to_ne_bytes()).collect();
    let adds = peer.caps.atomics_of_8.has(Atomic::Add(0));
    let (mut later, mut found, mut begun) = (Vec::new(), Vec::new(), 0);
    let deadline = Instant::now() + LIMIT;
    while begun < 2 * MANY {
        let (number, done) = (begun / 2, Completion { call: note, token: begun as u64 });
        let taken = match begun % 2 {
            0 => peer.put(8 + 8 * number, &data[number], done),
            _ if adds => peer.atomic(0, Atomic::Add(1), Width::Eight, done),
            _ => Ok(Begun::Done(number as u64)),
        };
        match taken {
            Ok(Begun::Done(value)) if begun % 2 == 1 => found.push(value),
            Ok(Begun::Done(_)) => {}
            Ok(Begun::Later) => later.push(begun as u64),
            Err(Full) => {
                peer.module.poll();
                assert!(Instant::now() < deadline, "it is full for ever");
                continue;
            }
        }
        begun += 1;
    }
    while ENDED.lock().unwrap().len() < later.len() {
        peer.module.poll();
        assert!(Instant::now() < deadline, "some are never complete");
    }
    // One more for each that is told twice.
    (0..MANY).for_each(|_| _ = peer.module.poll());
    let ended = std::mem::take(&mut *ENDED.lock().unwrap());
    let mut tokens: Vec<u64> = ended.iter().map(|(token, _)| *token).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, later, "each operation is complete once");
    let added = ended.iter().filter(|(token, _)| token % 2 == 1);
    found.extend(added.map(|(_, ended)| ended.expect("the peer lives")));
    found.sort_unstable();
    assert_eq!(found, (0..MANY as u64).collect::<Vec<_>>(), "each addition finds another value");
    exchange(&[]);
    let there: Vec<u8> = peer.read_own(8, 8 * MANY);
    assert_eq!(there, data.concat());
}

fn pattern(turn: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + turn * 31 + 1) as u8).collect()
}

static ENDED: Mutex<Vec<(u64, Result<u64>)>> = Mutex::new(Vec::new());

fn note(token: u64, ended: Result<u64>) {
    ENDED.lock().unwrap().push((token, ended));
}

const TOKEN: u64 = 0xfeed;
const WORDS: usize = 1 << 17;
const SIZES: [usize; 13] = [1, 2, 3, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 1 << 19];
const MANY: usize = 1000;
const LIMIT: Duration = Duration::from_secs(10);
