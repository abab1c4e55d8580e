//! fs/template: files as one kind of file system wants them treated. Say here which.
//!
//! Owns nothing. components/fs/ufs is one that is finished.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
