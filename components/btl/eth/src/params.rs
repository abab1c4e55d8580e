//! Parameters.

opal_core::params! {
    /// How long a peer may acknowledge nothing before that is said once. A machine without an operating system acknowledges
    /// only when its program is inside MPI: a long silence may be a long computation. 0: never.
    pub static SILENCE_NOTE_S: Size = Int(60), "s", level 4;
    /// How long it may acknowledge nothing before it counts as lost; 0: for ever, because a program may compute for hours.
    pub static SILENCE_TIMEOUT_S: Size = Int(0), "s", level 4;
    /// Of the transports that reach a process those with the highest number are used, together; btl/tcp has 100. Equal on all ranks.
    pub static EXCLUSIVITY: Size = Int(90), "", level 4;
}
