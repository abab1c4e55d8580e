//! `cargo run --release -p bench-statics`: the cost of the components of the static frameworks, side by side.

mod memcpy;
mod timer;

opal_core::image![];

fn main() {
    timer::table();
    memcpy::table();
}
