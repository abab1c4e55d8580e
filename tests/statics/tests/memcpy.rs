//! The memcpy suite for every component.

// Two crates that define the framework's one symbol do not link together: the copies come in as source.
#[path = "../../../components/memcpy/avx2/src/raw.rs"]
mod avx2;
#[path = "../../../components/memcpy/avx512/src/raw.rs"]
mod avx512;
#[path = "../../../components/memcpy/portable/src/raw.rs"]
mod portable;
#[path = "../../../components/memcpy/repmovs/src/raw.rs"]
mod repmovs;

macro_rules! suite {
    ($($name:ident: $copy:expr, $supported:expr;)*) => {
        $(mod $name {
            fn run(suite: fn(test_statics::memcpy::Copy)) {
                if $supported {
                    suite($copy);
                } else {
                    println!("skipped: this processor lacks the instructions");
                }
            }

            #[test]
            fn small_sizes_at_every_alignment() {
                run(test_statics::memcpy::small_sizes_at_every_alignment);
            }

            #[test]
            fn large_sizes() {
                run(test_statics::memcpy::large_sizes);
            }

            #[test]
            fn trailing() {
                run(test_statics::memcpy::trailing);
            }

            #[test]
            fn neighbours() {
                run(test_statics::memcpy::neighbours);
            }
        })*
    };
}

suite! {
    memcpy_portable: crate::portable::copy, true;
    memcpy_repmovs: crate::repmovs::copy, true;
    memcpy_avx2: crate::avx2::copy, opal_core::sys::cpu::has_avx2();
    memcpy_avx512: crate::avx512::copy, opal_core::sys::cpu::has_avx512f();
}
