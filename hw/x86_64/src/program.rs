//! The start of the program that an image was made for, and its arguments.
#![allow(unsafe_code)]

unsafe extern "Rust" {
    /// Defined by the crate that `cargo xtask build --app` generates: runs the program and returns its status.
    #[link_name = "__hw_x86_64_program_v1"]
    safe fn program() -> i32;
}

/// Runs it.
pub fn run() -> i32 {
    program()
}

/// The arguments of the boot line.
pub use crate::hooks::arguments;

/// What a Rust program's `main` can return, as with the standard library.
pub trait Ending {
    /// The program's status; says what was wrong.
    fn status(self) -> i32;
}

impl Ending for () {
    fn status(self) -> i32 {
        0
    }
}

impl<T: Ending, E: core::fmt::Debug> Ending for Result<T, E> {
    fn status(self) -> i32 {
        match self {
            Ok(value) => value.status(),
            Err(error) => {
                crate::eprintln!("Error: {error:?}");
                1
            }
        }
    }
}
