//! `cargo xtask`: builds, runs, tests and checks ompi-rs.

fn main() {}
