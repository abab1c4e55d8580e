//! MPI_Status: the standard ABI's 32 bytes.

use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::process;
use alloc::format;
use alloc::string::String;
use orte_core::framework::ess;

/// As the user sees it; MPI 5.0 §3.2.5 and §20 for the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Status {
    /// MPI_SOURCE.
    pub source: i32,
    /// MPI_TAG.
    pub tag: i32,
    /// MPI_ERROR; single completions leave it alone.
    pub error: i32,
    // Byte count in [0] (low) and [1] (high); flags in the low byte of [2]; of a failed operation in [3] the context number
    // and one more; of a truncated message its bytes in [4] (low) and the rest of [2] (high); of one with a process that is gone the
    // index of that one and one more in [4].
    internal: [i32; 5],
}

/// MPI_ANY_SOURCE.
pub const ANY_SOURCE: i32 = -1;
/// MPI_ANY_TAG.
pub const ANY_TAG: i32 = -2;
/// MPI_PROC_NULL.
pub const PROC_NULL: i32 = -3;
/// MPI_ROOT.
pub const ROOT: i32 = -4;
/// MPI_UNDEFINED.
pub const UNDEFINED: i32 = -32766;

const CANCELLED: i32 = 1;
const FLAG_BITS: u32 = 8;

impl Status {
    /// A status with these three and nothing else.
    pub const fn new(source: i32, tag: i32, bytes: u64) -> Status {
        Status { source, tag, error: 0, internal: [bytes as i32, (bytes >> 32) as i32, 0, 0, 0] }
    }

    /// The *empty* status of MPI 5.0 §3.7.3.
    pub const EMPTY: Status = Status::new(ANY_SOURCE, ANY_TAG, 0);

    /// What a receive from MPI_PROC_NULL returns, MPI 5.0 §3.10.
    pub const NO_PROC: Status = Status::new(PROC_NULL, ANY_TAG, 0);

    /// Bytes received.
    pub const fn bytes(&self) -> u64 {
        self.internal[0] as u32 as u64 | (self.internal[1] as u32 as u64) << 32
    }

    /// Says how many bytes.
    pub fn set_bytes(&mut self, bytes: u64) {
        self.internal[0] = bytes as i32;
        self.internal[1] = (bytes >> 32) as i32;
    }

    /// Whether the operation was cancelled.
    pub const fn cancelled(&self) -> bool {
        self.internal[2] & CANCELLED != 0
    }

    /// Says whether it was cancelled.
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.internal[2] = if cancelled { self.internal[2] | CANCELLED } else { self.internal[2] & !CANCELLED };
    }

    /// The empty status of an operation that failed with this code.
    pub const fn failed(code: i32) -> Status {
        Status { error: code, ..Status::EMPTY }
    }

    /// For a failed operation: the context number of its communicator, whose error handler a completing call raises.
    pub const fn context(&self) -> Option<u32> {
        (self.internal[3] as u32).checked_sub(1)
    }

    /// Says that the operation failed, with which code and on the communicator with which context number.
    pub fn fail(&mut self, code: i32, context: u32) {
        self.error = code;
        self.internal[3] = context as i32 + 1;
    }

    /// Says that a message of `sent` bytes did not fit; [`Status::bytes`] is what did. At most 2^56 bytes are remembered.
    #[inline(always)]
    pub fn fail_truncated(&mut self, sent: u64, context: u32) {
        self.fail(Class::Truncate as i32, context);
        self.internal[4] = sent as i32;
        self.internal[2] |= ((sent >> 32) as i32) << FLAG_BITS;
    }

    /// Says that the operation failed because this process is gone.
    #[cold]
    pub fn fail_lost(&mut self, process: u32, context: u32) {
        self.fail(Class::ProcAborted as i32, context);
        self.internal[4] = process as i32 + 1;
    }

    /// The fault that [`Status::error`] stands for.
    #[cold]
    pub fn fault(&self) -> Fault {
        let fault = Fault::code(self.error).on(self.context());
        if self.error == Class::ProcAborted as i32 {
            let lost = (self.internal[4] as u32).checked_sub(1).and_then(process::find_by_index);
            return match lost {
                Some(lost) => fault.because(lost.lost()),
                None => fault,
            };
        }
        let sent = u64::from(self.internal[4] as u32) | u64::from(self.internal[2] as u32 >> FLAG_BITS) << 32;
        match self.error == Class::Truncate as i32 && sent > 0 {
            true => fault.because(format!(
                "the message from rank {} with tag {} has {sent} bytes, the receive buffer has room for {}",
                self.source,
                self.tag,
                self.bytes()
            )),
            false => fault,
        }
    }

    /// The fault of a call that completed several operations, of which that of array_of_requests at this place was the first
    /// that failed; their own codes stand in their statuses. MPI_ERR_IN_STATUS it is also with MPI_STATUSES_IGNORE: MPI 5.0
    /// §3.7.5 makes no exception. The handler in force is that of the communicator on which it
    /// failed (MPI 5.0 §9.3); one that ends the job leaves nobody to look into the statuses, so that the text names the error.
    #[cold]
    pub fn fault_among(&self, request: usize) -> Fault {
        let own = self.fault();
        if own.get() == Class::ProcAborted as i32 {
            ess::lost_peer();
        }
        let class = errhandler::error_string(own.get());
        let why = format!("the first that failed: array_of_requests[{request}] with {class}{}", behind(&own));
        Fault::new(Class::InStatus).on(self.context()).because(why)
    }

    /// Fills the user's status but for MPI_ERROR, of an operation that did not fail.
    #[inline(always)]
    pub fn write_to(self, to: Option<&mut Status>) {
        if let Some(to) = to {
            *to = Status { error: to.error, ..self };
        }
    }

    /// What a single completion does: fills the user's status but for MPI_ERROR (MPI 5.0 §3.2.5), and turns the
    /// operation's error code into the call's result.
    #[inline(always)]
    pub fn deliver(self, to: Option<&mut Status>) -> Result<()> {
        self.write_to(to);
        if self.error == 0 { Ok(()) } else { Err(self.fault()) }
    }
}

const _: () = assert!(size_of::<Status>() == 32 && align_of::<Status>() == 4);

/// A fault's reason as the end of a sentence.
fn behind(fault: &Fault) -> String {
    if fault.reason().is_empty() { String::new() } else { format!("; {}", fault.reason()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_message_is_described() {
        for sent in [9, 0x1_0000_0000, 0x12_3456_789a_bcde] {
            let mut status = Status::new(3, 7, 8);
            status.set_cancelled(true);
            status.fail_truncated(sent, 5);
            let wanted =
                format!("the message from rank 3 with tag 7 has {sent} bytes, the receive buffer has room for 8");
            assert_eq!((status.fault().reason(), status.context()), (wanted.as_str(), Some(5)));
            assert!(status.cancelled() && status.bytes() == 8);
        }
        let mut other = Status::new(3, 7, 8);
        other.fail(Class::Truncate as i32, 5);
        assert_eq!(other.fault().reason(), "");
    }

    /// What the calls for several requests say is what the call for one would say, with the place in the array before it.
    #[test]
    fn one_of_several_is_described_as_alone() {
        let mut status = Status::new(3, 7, 8);
        status.fail_truncated(9, 5);
        let mut plain = Status::new(3, 7, 8);
        plain.fail(Class::Rank as i32, 5);
        for (status, class) in [(status, "MPI_ERR_TRUNCATE"), (plain, "MPI_ERR_RANK")] {
            let own = status.fault();
            let rest = if own.reason().is_empty() { String::new() } else { format!("; {}", own.reason()) };
            let among = status.fault_among(4);
            let first = "the first that failed: array_of_requests[4] with ";
            assert!(among.reason().starts_with(&format!("{first}{class}")), "{}", among.reason());
            assert!(among.reason().ends_with(&rest), "{}", among.reason());
            assert_eq!((among.get(), among.context()), (Class::InStatus as i32, Some(5)));
        }
    }
}
