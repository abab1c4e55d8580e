//! Nothing: the package is its bench, `cargo bench -p bench-micro`.
