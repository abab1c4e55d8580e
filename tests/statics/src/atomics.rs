//! What atomics must do: what one thread sees, and litmus tests with several.
//!
//! The components are leaf crates with one interface, so the suite is a macro over the crate.

/// The tests of these crates, by name.
#[macro_export]
macro_rules! atomics_suite {
    ($($name:ident: $component:ident;)*) => {$(
        mod $name {
            use std::thread;
            use $crate::atomics::{ROUNDS, THREADS};
            use $component::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
            use $component::{
                AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, compiler_fence, fence,
            };

            macro_rules! integer {
                ($atomic:ident, $type:ty) => {{
                        static HELD: $atomic = $atomic::new(7);
                        assert_eq!(HELD.load(SeqCst), 7);
                        assert_eq!((size_of::<$atomic>(), align_of::<$atomic>()), (size_of::<$type>(), size_of::<$type>()));
                        // Neighbours show an access that is too wide.
                        let three = [$atomic::new(0), $atomic::new(0), $atomic::new(0)];
                        let one = &three[1];
                        for order in [Relaxed, Release, SeqCst] {
                            one.store(<$type>::MAX, order);
                            assert_eq!(one.load(Relaxed), <$type>::MAX);
                            one.store(5, order);
                            assert_eq!((one.load(Relaxed), one.load(Acquire), one.load(SeqCst)), (5, 5, 5));
                        }
                        assert_eq!(one.swap(9, AcqRel), 5);
                        assert_eq!(one.compare_exchange(8, 1, SeqCst, SeqCst), Err(9));
                        assert_eq!(one.compare_exchange(9, 1, AcqRel, Relaxed), Ok(9));
                        while one.compare_exchange_weak(1, <$type>::MAX, Release, Acquire).is_err() {}
                        assert_eq!(one.fetch_add(2, Relaxed), <$type>::MAX);
                        assert_eq!(one.load(Relaxed), <$type>::MAX.wrapping_add(2));
                        assert_eq!(one.fetch_sub(2, SeqCst), <$type>::MAX.wrapping_add(2));
                        one.store(0b1100, Relaxed);
                        assert_eq!(one.fetch_and(0b0110, SeqCst), 0b1100);
                        assert_eq!(one.fetch_or(0b0001, SeqCst), 0b0100);
                        assert_eq!(one.fetch_xor(0b0111, SeqCst), 0b0101);
                        assert_eq!(one.fetch_nand(0b0011, SeqCst), 0b0010);
                        assert_eq!(one.swap(3, SeqCst), !0b0010);
                        assert_eq!((one.fetch_max(4, SeqCst), one.fetch_min(2, SeqCst), one.load(SeqCst)), (3, 4, 2));
                        assert_eq!(one.fetch_update(SeqCst, SeqCst, |held| (held == 2).then_some(6)), Ok(2));
                        assert_eq!(one.fetch_update(SeqCst, SeqCst, |held| (held == 2).then_some(6)), Err(6));
                        assert_eq!((three[0].load(SeqCst), three[2].load(SeqCst)), (0, 0));
                        let mut owned = $atomic::new(1);
                        *owned.get_mut() = 2;
                        assert_eq!(owned.into_inner(), 2);
                }};
            }

            #[test]
            fn integers() {
                integer!(AtomicU8, u8);
                integer!(AtomicU16, u16);
                integer!(AtomicU32, u32);
                integer!(AtomicU64, u64);
                integer!(AtomicUsize, usize);
                integer!(AtomicI64, i64);
            }

            #[test]
            fn flags() {
                static FLAG: AtomicBool = AtomicBool::new(true);
                assert_eq!((size_of::<AtomicBool>(), FLAG.load(Acquire)), (1, true));
                FLAG.store(false, Release);
                assert_eq!((FLAG.swap(true, SeqCst), FLAG.load(Relaxed)), (false, true));
                assert_eq!(FLAG.compare_exchange(false, true, SeqCst, Relaxed), Err(true));
                assert_eq!(FLAG.compare_exchange(true, false, SeqCst, Relaxed), Ok(true));
                assert_eq!((FLAG.fetch_or(true, SeqCst), FLAG.fetch_and(false, SeqCst)), (false, true));
                assert_eq!((FLAG.fetch_xor(true, SeqCst), FLAG.fetch_not(SeqCst), FLAG.load(SeqCst)), (false, true, false));
            }

            #[test]
            fn pointers() {
                let (mut a, mut b) = (1u16, 2u16);
                let (a, b) = (&raw mut a, &raw mut b);
                let held = AtomicPtr::new(a);
                assert_eq!((held.load(Acquire), held.swap(b, AcqRel), held.load(SeqCst)), (a, a, b));
                assert_eq!(held.compare_exchange(a, b, SeqCst, SeqCst), Err(b));
                assert_eq!(held.compare_exchange(b, a, SeqCst, SeqCst), Ok(b));
                held.store(b, SeqCst);
                held.store(a, Release);
                assert_eq!(held.into_inner(), a);
            }

            #[test]
            fn what_makes_no_sense_panics() {
                // The compiler refuses them as constants.
                let [release, acquire, relaxed] = [Release, Acquire, Relaxed].map(std::hint::black_box);
                let word = AtomicU32::new(0);
                let tries: [&(dyn Fn() + std::panic::RefUnwindSafe); 3] = [
                    &|| _ = AtomicU32::new(0).load(release),
                    &|| AtomicU32::new(0).store(1, acquire),
                    &|| fence(relaxed),
                ];
                for bad in tries {
                    assert!(std::panic::catch_unwind(bad).is_err());
                }
                compiler_fence(SeqCst);
                assert_eq!(word.load(Relaxed), 0);
            }

            /// No increment is lost, whichever operation makes it.
            #[test]
            fn counters() {
                let (added, exchanged, wide) = (AtomicU32::new(0), AtomicU8::new(0), AtomicU64::new(0));
                thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            for _ in 0..ROUNDS {
                                added.fetch_add(1, Relaxed);
                                wide.fetch_add(1 << 31, AcqRel);
                                _ = exchanged.fetch_update(SeqCst, Relaxed, |held| Some(held.wrapping_add(1)));
                            }
                        });
                    }
                });
                let all = (THREADS * ROUNDS) as u32;
                assert_eq!((added.into_inner(), wide.into_inner()), (all, u64::from(all) << 31));
                assert_eq!(exchanged.into_inner(), all as u8);
            }

            /// MP: a thread that sees the flag sees the data.
            #[test]
            fn message_passing() {
                let (data, flag, back) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
                thread::scope(|scope| {
                    scope.spawn(|| {
                        for round in 1..=ROUNDS as u64 {
                            data.store(round, Relaxed);
                            flag.store(true, Release);
                            while back.load(Acquire) != round {
                                std::hint::spin_loop();
                                thread::yield_now();
                            }
                        }
                    });
                    for round in 1..=ROUNDS as u64 {
                        while !flag.swap(false, Acquire) {
                            std::hint::spin_loop();
                            thread::yield_now();
                        }
                        assert_eq!(data.load(Relaxed), round);
                        back.store(round, Release);
                    }
                });
            }

            /// SB: with sequential consistency, or fences, two threads cannot both miss the other's store.
            #[test]
            fn store_buffering() {
                for fenced in [false, true] {
                    let cells = || (0..ROUNDS).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
                    let (x, y, x_round, y_round) = (cells(), cells(), AtomicUsize::new(0), AtomicUsize::new(0));
                    let side = |mine: &[AtomicU32], theirs: &[AtomicU32], here: &AtomicUsize, there: &AtomicUsize| {
                        let round = |round: usize| {
                            // Both begin a round as nearly at once as spinning can make them.
                            here.store(round + 1, SeqCst);
                            let mut polls = 0;
                            while there.load(Acquire) <= round {
                                polls += 1;
                                if polls > 200 {
                                    thread::yield_now();
                                }
                            }
                            if fenced {
                                mine[round].store(1, Relaxed);
                                fence(SeqCst);
                                theirs[round].load(Relaxed)
                            } else {
                                mine[round].store(1, SeqCst);
                                theirs[round].load(SeqCst)
                            }
                        };
                        (0..ROUNDS).map(round).collect::<Vec<u32>>()
                    };
                    let (first, second) = thread::scope(|scope| {
                        let other = scope.spawn(|| side(&x, &y, &x_round, &y_round));
                        let own = side(&y, &x, &y_round, &x_round);
                        (other.join().unwrap(), own)
                    });
                    let missed = first.iter().zip(&second).filter(|(a, b)| **a + **b == 0).count();
                    assert_eq!(missed, 0, "rounds in which both missed the other's store, fenced: {fenced}");
                }
            }

            /// A lock of one compare-and-exchange protects plain data.
            #[test]
            fn lock() {
                let (taken, data) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
                thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            for _ in 0..ROUNDS / 10 {
                                while taken.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                                    thread::yield_now();
                                }
                                let held = data[0].load(Relaxed);
                                assert_eq!(held, data[1].load(Relaxed));
                                data[0].store(held + 1, Relaxed);
                                data[1].store(held + 1, Relaxed);
                                taken.store(false, Release);
                            }
                        });
                    }
                });
                assert_eq!(data[1].load(SeqCst), THREADS * (ROUNDS / 10));
            }
        }
    )*};
}

/// Threads of a test that has several.
pub const THREADS: usize = 4;
/// How often each of them does it.
pub const ROUNDS: usize = 20_000;
