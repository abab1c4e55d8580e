//! What a job tells people of itself: the paths between its ranks, what each waits for, what they did.
//!
//! Nothing here is called unless a parameter asks for it. Rank 0 gathers what all ranks say, and prints it.
//!
//! **Invariant:** no fast path knows of this module.

pub mod gather;
pub mod listen;
pub mod params;
pub mod paths;
pub mod stats;
mod table;
pub mod trace;
mod wait;
pub mod waits;

use alloc::format;
use alloc::string::String;
pub use params::FRAMEWORK;

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '.. => quoted.push(character),
            _ => quoted.push_str(&format!("\\u{:04x}", character as u32)),
        }
    }
    quoted.push('"');
    quoted
}
