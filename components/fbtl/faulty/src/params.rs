//! Parameters.

opal_core::params! {
    /// Where the faults of all processes begin; each process adds its rank.
    pub static SEED: Size = Int(1), "", level 9;
    /// How many of a million calls of the system move less than they were asked for.
    pub static SHORT: Size = Int(0), "", level 9;
    /// How many of a million calls end by a signal before they have moved anything (EINTR).
    pub static INTERRUPT: Size = Int(0), "", level 9;
    /// How many of a million calls that read find the file cut within the bytes that they were to read, as if by another program.
    pub static TRUNCATE: Size = Int(0), "", level 9;
    /// How many of a million calls are refused.
    pub static REFUSE: Size = Int(0), "", level 9;
    /// After so many bytes that this process has read reading is refused; -1: never.
    pub static READ_LIMIT: Int = Int(-1), "bytes", level 9, change Local;
    /// After so many bytes that this process has written writing is refused; -1: never.
    pub static WRITE_LIMIT: Int = Int(-1), "bytes", level 9, change Local;
    /// What the system says where it refuses.
    pub static ERRNO: Choice(&["EIO", "ENOSPC", "EDQUOT", "EACCES", "EFBIG"]) = Text("EIO"), "", level 9, change Local;
}
