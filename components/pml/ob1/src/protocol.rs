//! How one message travels: eagerly, or by rendezvous if it is long. The receiver of a long message chooses how it is copied.
//!
//! ```text
//!  sender                                    receiver
//!
//!  EAGER ──────────────────────────────────► matched: complete; else kept
//!  (complete)                                much is kept: XOFF (flow_control)
//!
//!  SyncQueued, until there is room
//!  SYNC ───────────────────────────────────► matched
//!  AwaitingAck ◄───────────────────── ACK ── complete
//!  (complete)
//!
//!  RTS, perhaps RTS_DATA ──────────────────► matched: selection chooses
//!  RtsSent
//!   │
//!   ├─◄── NONE_WANTED ─────────────────────  a receive of 0 bytes: complete
//!   │     (complete)
//!   │
//!   ├─◄── CTS, CTS_RESEND ─────────────────  ReceivingFragments ◄──┐
//!   │     SendingFragments                                         │
//!   │       FRAG … ────────────────────────► all bytes: complete   │
//!   │     (complete)                                               │
//!   │                                                              │ a read failed:
//!   ├─◄── PUSH_OFFER ──────────────────────  Rget, offer open ─────┤ CTS_RESEND
//!   │     claims the rest, writes it,         reads its part       │
//!   │       PUSH_DONE, PUSH_FAILED ────────► or claims and reads ──┘
//!   │                                        the rest itself
//!   │                                        Getting: reads all through
//!   │                                         a transport; failed: CTS_RESEND
//!   └─◄── FIN ─────────────────────────────  all bytes: complete
//!         (complete)
//! ```
//!
//! Names in capitals are messages ([`crate::wire`]); the others are [`operation::OperationState`]s. CTS_RESEND says that
//! RTS data was not kept ([`rts_data`]), or that a single copy ([`smsc`]) or a read ([`get`]) failed. A lost peer ends each state
//! ([`failure`]).
//!
//! Below [`crate::state`]: [`operation`] and the data of [`smsc`], [`get`] and [`rts_data`], [`selection`]. Above it, each on those
//! before it: [`control`], [`flow_control`], [`fragments`], [`rts_data`], [`get`], [`smsc`], [`rendezvous`], [`placement`], [`delivery`],
//! [`quiesced`], [`failure`].

pub mod completion;
pub mod control;
pub mod delivery;
pub mod failure;
pub mod flow_control;
pub mod fragments;
pub mod get;
pub mod operation;
pub mod placement;
pub mod quiesced;
pub mod rendezvous;
pub mod rts_data;
pub mod selection;
pub mod smsc;
