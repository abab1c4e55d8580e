//! Data layouts and the engine that packs and unpacks them.
#![allow(unsafe_code)]
