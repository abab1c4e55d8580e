//! Long data copied between the buffers of two processes by the operating system (framework smsc).

pub mod data_movement;
pub mod exchange;
