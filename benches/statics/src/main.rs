//! `cargo run --release -p bench-statics`: what the components of the static frameworks cost, side by side.

mod memcpy;
mod timer;

opal_core::image![];

fn main() {
    timer::table();
    memcpy::table();
}
