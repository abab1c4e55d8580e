//! `cargo bench -p bench-micro --bench registrations`: what it costs to find memory that is registered already. memory/hook tells of memory
//! that goes, so this has an image of its own.

use criterion::Criterion;
use opal_core::framework::btl::{Caps, Endpoint, Full, Module, Peer, Registration};
use opal_core::framework::rcache::Component;
use std::hint::black_box;

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_hook, rcache_grdma, timer_clock];

/// Registers everything at once.
struct Card;

impl Module for Card {
    fn caps(&self) -> &Caps {
        unreachable!("a cache asks for nothing but registrations")
    }

    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn add_peer(&self, _peer: Peer<'_>) -> opal_core::Result<Option<Endpoint>> {
        Ok(None)
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    fn send(&self, _: Endpoint, _: u8, _: u64, _: usize, _: &mut dyn FnMut(*mut u8)) -> Result<(), Full> {
        Err(Full)
    }

    fn register_memory(&self, _address: *mut u8, _bytes: usize) -> opal_core::Result<Registration> {
        Ok(Registration { handle: 0, key: vec![7; 16] })
    }

    fn poll(&self) -> usize {
        0
    }
}

/// A hit is an acquisition and a release; with one registration, and with as many as are kept.
fn hits(criterion: &mut Criterion) {
    rcache_grdma::COMPONENT.query().expect("memory/hook tells of memory that goes");
    let mut memory = vec![0u8; 4 << 20];
    for pieces in [1, 1000] {
        let cache = rcache_grdma::COMPONENT.keep(&Card);
        let bytes = memory.len() / pieces;
        for piece in 0..pieces {
            let lease = cache.acquire(memory[piece * bytes..].as_mut_ptr(), bytes, &mut |_| {}).expect("there is room");
            cache.release(lease);
        }
        let mut piece = 0;
        criterion.bench_function(&format!("registrations: hit among {pieces}"), |bencher| {
            bencher.iter(|| {
                piece = (piece + 1) % pieces;
                let address = memory[piece * bytes..].as_mut_ptr();
                let lease =
                    cache.acquire(address, bytes, &mut |key| _ = black_box(key.len())).expect("it is registered");
                cache.release(lease);
            });
        });
    }
}

criterion::criterion_group!(all, hits);
criterion::criterion_main!(all);
