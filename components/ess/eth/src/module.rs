//! The module: finding the other machines, and waiting for them.

use crate::params::LOOKUP_TIMEOUT_S;
use crate::roll::{Roll, Twice};
use crate::wire::{self, ADDRESSES_MAX, Said};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use opal_core::framework::netif::{self, Card, Mac, Received};
use opal_core::framework::shmem::Inherited;
use opal_core::sync::{ConditionalLock, Once};
use opal_core::{Error, Result, message, sys};
use orte_core::environment::Contract;
use orte_core::framework::ess::{Identity, Module, State};

/// The one module, for the handler of its frames.
pub static ETHERNET: Once<Ethernet> = Once::new();

/// One machine of several.
pub struct Ethernet {
    identity: Identity,
    app: u32,
    universe: u32,
    secret: [u8; 32],
    state: ConditionalLock<Standing>,
}

struct Standing {
    roll: Roll,
    published: Option<Vec<u8>>,
}

impl Ethernet {
    /// As the boot line says.
    pub fn new(contract: &Contract, secret: [u8; 32]) -> Ethernet {
        let Contract { job, rank, size, app, universe, .. } = *contract;
        let identity = Identity { job, rank, size, local_rank: 0, local_size: 1 };
        let state = Standing { roll: Roll::new(rank, size), published: None };
        Ethernet { identity, app, universe, secret, state: ConditionalLock::new(state) }
    }

    /// Says to a card, or to all, how far this rank is. A full ring loses it: it is said again.
    fn say(&self, card: &Card, to: Mac, asks: bool) {
        let state = self.state.lock();
        let Some(addresses) = &state.published else { return };
        let Identity { job, rank, size, .. } = self.identity;
        let (stage, seen) = (state.roll.stage(), state.roll.seen());
        let said = Said { job, rank, size, stage, seen, asks, addresses };
        let bytes = said.encode(&self.secret, card.module.caps().mac);
        let _ = netif::send(card, to, wire::ETHERTYPE, bytes.len(), &mut |place| place.copy_from_slice(&bytes));
    }

    fn say_to_all(&self, asks: bool) {
        // Every rank speaks by its first card, which is how the others know it.
        netif::cards().iter().take(1).for_each(|card| self.say(card, Mac::BROADCAST, asks));
    }

    /// Asks all again and again until `done`. `Err(Timeout)` after so long, `Err(Exists)` if a rank is there twice.
    fn ask_until(
        &self,
        timeout_ns: Option<u64>,
        meanwhile: &mut dyn FnMut(),
        mut done: impl FnMut(&Roll) -> bool,
    ) -> Result<()> {
        let begin_ns = sys::monotonic_ns();
        let (mut next_ns, mut pause_ns) = (0, FIRST_PAUSE_NS);
        loop {
            meanwhile();
            netif::poll();
            {
                let state = self.state.lock();
                if let Some(twice) = state.roll.twice() {
                    say_twice(&twice);
                    return Err(Error::Exists);
                }
                if done(&state.roll) {
                    return Ok(());
                }
            }
            let now_ns = sys::monotonic_ns();
            if timeout_ns.is_some_and(|timeout_ns| now_ns - begin_ns > timeout_ns) {
                return Err(Error::Timeout);
            }
            if now_ns >= next_ns {
                self.say_to_all(true);
                (next_ns, pause_ns) = (now_ns + pause_ns, (2 * pause_ns).min(LONGEST_PAUSE_NS));
            }
            sys::yield_now();
        }
    }

    /// Waits until all ranks are at a stage, and know it of each other.
    fn meet(&self, stage: u32, timeout_ns: Option<u64>, meanwhile: &mut dyn FnMut()) -> Result<()> {
        self.ask_until(timeout_ns, meanwhile, |roll| roll.seen() >= stage)?;
        self.say_to_all(true);
        // A rank that has ended answers nobody: whoever did not hear its last word believes after a while that it was said.
        match self.ask_until(Some(LINGER_NS), meanwhile, |roll| roll.is_known(stage)) {
            Ok(()) | Err(Error::Timeout) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// `rank 1 (52:54:00:00:00:01), rank 2`.
    fn missing(&self, stage: u32) -> String {
        let mut text = String::new();
        for (rank, card) in self.state.lock().roll.missing(stage) {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = match card {
                Some(card) => write!(text, "{comma}rank {rank} ({card})"),
                None => write!(text, "{comma}rank {rank}"),
            };
        }
        text
    }
}

/// Handles a frame of [`wire::ETHERTYPE`].
pub fn hear(frame: Received<'_>) {
    let (Some(ethernet), Some(card)) = (ETHERNET.get(), netif::cards().get(frame.card)) else { return };
    let Some(said) = wire::parse(frame.payload, &ethernet.secret, frame.from) else { return };
    if said.job != ethernet.identity.job {
        return;
    }
    let answers = ethernet.state.lock().roll.hear(&said, frame.from, card.module.caps().mac);
    if answers {
        ethernet.say(card, frame.from, false);
    }
}

impl Module for Ethernet {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn app_number(&self) -> Option<u32> {
        Some(self.app)
    }

    fn universe_size(&self) -> Option<u32> {
        Some(self.universe)
    }

    fn node_of(&self, rank: u32) -> u32 {
        rank
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        if addresses.len() > ADDRESSES_MAX {
            let bytes = addresses.len();
            message!("the addresses of this rank take {bytes} bytes, a frame has room for {ADDRESSES_MAX}");
            return Err(Error::OutOfResource);
        }
        let stage = {
            let mut state = self.state.lock();
            if state.published.replace(addresses.to_vec()).is_some() {
                return Err(Error::Exists);
            }
            state.roll.advance()
        };
        let seconds = LOOKUP_TIMEOUT_S.int().unsigned_abs();
        // Before all are there nobody can take messages.
        self.meet(stage, Some(seconds.saturating_mul(1_000_000_000)), &mut || {}).inspect_err(|error| {
            if *error == Error::Timeout {
                message!(
                    "{} did not answer within {seconds} s: the machine is off or runs another job, its cable is out, or its boot \
                     line says another size= or secret=; ess_eth_lookup_timeout_s sets how long to wait",
                    self.missing(stage)
                );
            }
        })
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        if rank >= self.identity.size {
            return Err(Error::Invalid);
        }
        let state = self.state.lock();
        let own = state.published.as_deref().filter(|_| rank == self.identity.rank);
        own.or_else(|| state.roll.addresses(rank)).map(Vec::from).ok_or(Error::NotFound)
    }

    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let stage = self.state.lock().roll.advance();
        self.meet(stage, None, meanwhile)
    }

    fn secret(&self) -> Option<[u8; 32]> {
        Some(self.secret)
    }

    fn inherited(&self) -> Option<Inherited> {
        None
    }

    /// There is no launcher to tell.
    fn set_state(&self, _state: State) {}

    fn epoch(&self) -> u32 {
        0
    }

    fn abort(&self, status: i32, text: &str) -> ! {
        message!("this rank ended itself with status {status}: {text}");
        sys::exit(if status != 0 && status & 0xff == 0 { 1 } else { status })
    }
}

fn say_twice(Twice { rank, cards: [one, other] }: &Twice) {
    message!(
        "two machines say that they are rank {rank} of this job, {one} and {other}; give each boot line a rank= of its own"
    );
}

/// From one question to the next one.
const FIRST_PAUSE_NS: u64 = 2_000_000;
const LONGEST_PAUSE_NS: u64 = 50_000_000;
const LINGER_NS: u64 = 1_000_000_000;
