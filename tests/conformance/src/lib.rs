//! One suite per framework, generic over its module trait, run for every component.
#![allow(unsafe_code)] // places that transports hand out

pub mod btl;
pub mod btl_remote;
pub mod declined;
pub mod ess;
pub mod fbtl;
pub mod forger;
pub mod fs;
pub mod late;
pub mod netif;
pub mod op;
pub mod pair;
pub mod rcache;
pub mod reachable;
pub mod scratch;
pub mod smsc;
pub mod topo;
pub mod veth;
