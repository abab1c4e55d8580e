//! The figures: the best of many short rounds, because everything else on the machine only makes them worse.

use ompi_core::comm;
use ompi_core::data::Data;
use ompi_core::datatype::{self, Datatype};
use ompi_core::framework::pml::{self, MatchContext, Mode};
use ompi_core::request::handles;
use std::time::Instant;

const ROUNDS: usize = 200;
const WINDOW: usize = 64;

struct Pair {
    byte: &'static Datatype,
    me: u32,
    buffer: Vec<u8>,
}

/// Measures and prints on rank 0.
pub fn run() {
    let mut pair = Pair::new();
    if pair.me > 1 {
        return;
    }
    for bytes in [0, 1, 8, 56, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262_144, 1 << 20, 4 << 20] {
        let turns = if bytes <= 8192 { 1000 } else { (8 << 20) / bytes };
        let best = (0..ROUNDS).map(|_| pair.ping_pong(bytes, turns)).fold(f64::MAX, f64::min);
        pair.say(&format!("latency {bytes:>8} B  {best:>10.1} ns one way"));
    }
    for bytes in [8, 512, 4096] {
        let best = (0..ROUNDS).map(|_| pair.rate(bytes, 50)).fold(f64::MAX, f64::min);
        let rate = 1000.0 / best;
        pair.say(&format!("rate    {bytes:>8} B  {best:>10.1} ns a message, {rate:.2} M/s, window {WINDOW}"));
    }
    for bytes in [65536, 1 << 20, 4 << 20] {
        let best = (0..ROUNDS).map(|_| pair.rate_of(bytes, (1 << 23) / bytes, 4)).fold(f64::MAX, f64::min);
        pair.say(&format!("stream  {bytes:>8} B  {:>10.2} GB/s", bytes as f64 / best));
    }
}

/// One long round of the rate.
pub fn only_rate(bytes: usize, turns: usize) {
    let mut pair = Pair::new();
    let time = pair.rate(bytes, turns);
    pair.say(&format!("rate    {bytes:>8} B  {time:>10.1} ns a message, window {WINDOW}"));
}

impl Pair {
    fn new() -> Pair {
        let me = comm::world().rank;
        if std::env::var_os("BENCH_UNPINNED").is_none() {
            let mut core = rustix::thread::CpuSet::new();
            core.set(me as usize);
            rustix::thread::sched_setaffinity(None, &core).expect("there are as many cores as ranks");
        }
        Pair { byte: datatype::borrow(BYTE).expect("MPI_BYTE"), me, buffer: vec![1; 8 << 20] }
    }

    fn data(&self, bytes: usize) -> Data<'static> {
        Data { at: self.buffer.as_ptr().cast_mut(), count: bytes, datatype: self.byte }
    }

    fn send(&self, bytes: usize) {
        let lane = MatchContext { comm: comm::world(), collective: false };
        let peer = 1 - self.me as i32;
        // SAFETY: the buffer is larger than any message and lives as long as this.
        unsafe { pml::selected().send(&self.data(bytes), peer, 7, Mode::Standard, lane) }.expect("it is sent");
    }

    fn recv(&self, bytes: usize) {
        let lane = MatchContext { comm: comm::world(), collective: false };
        let peer = 1 - self.me as i32;
        // SAFETY: as in `send`.
        unsafe { pml::selected().recv(&self.data(bytes), peer, 7, lane, None) }.expect("it is received");
    }

    fn ping_pong(&mut self, bytes: usize, turns: usize) -> f64 {
        let mut start = Instant::now();
        let warm = turns / 10;
        for turn in 0..turns + warm {
            if turn == warm {
                start = Instant::now();
            }
            if self.me == 0 {
                self.send(bytes);
                self.recv(bytes);
            } else {
                self.recv(bytes);
                self.send(bytes);
            }
        }
        start.elapsed().as_nanos() as f64 / turns as f64 / 2.0
    }

    fn rate(&mut self, bytes: usize, turns: usize) -> f64 {
        self.rate_of(bytes, turns, WINDOW)
    }

    fn rate_of(&mut self, bytes: usize, turns: usize, window: usize) -> f64 {
        let lane = MatchContext { comm: comm::world(), collective: false };
        let mut all = vec![0usize; window];
        self.recv_or_send_first();
        let start = Instant::now();
        for _ in 0..turns {
            for handle in &mut all {
                let data = self.data(bytes);
                let peer = 1 - self.me as i32;
                // SAFETY: all messages have the same content; the buffer lives.
                let request = unsafe {
                    match self.me {
                        0 => pml::selected().isend(&data, peer, 7, Mode::Standard, lane),
                        _ => pml::selected().irecv(&data, peer, 7, lane),
                    }
                };
                *handle = request.expect("it starts").into_handle();
            }
            handles::wait_all(&mut all, None).expect("all are done");
            if self.me == 0 {
                self.recv(0);
            } else {
                self.send(0);
            }
        }
        start.elapsed().as_nanos() as f64 / (turns * window) as f64
    }

    fn recv_or_send_first(&self) {
        if self.me == 0 {
            self.send(0);
            self.recv(0);
        } else {
            self.recv(0);
            self.send(0);
        }
    }

    fn say(&self, line: &str) {
        if self.me == 0 {
            println!("{line}");
        }
    }
}

const BYTE: usize = 0x247;
