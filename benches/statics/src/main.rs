//! `cargo run --release -p bench-statics`: what the components of the static frameworks cost, side by side.

mod memcpy;

fn main() {
    memcpy::table();
}
