//! Names for files that come and go.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A path that nobody else uses, in this process or another.
pub fn path(what: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("ompi-rs-{what}-{}-{number}", std::process::id()))
}
