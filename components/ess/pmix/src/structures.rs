//! The structures that are handed to libpmix, and the numbers in them: PMIx standard 4, `pmix_common.h`.

use core::ffi::{c_char, c_int};

/// `pmix_proc_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Proc {
    /// The job as the manager calls it, with a zero at its end.
    pub namespace: [u8; 256],
    /// The rank in it, or `WILDCARD`.
    pub rank: u32,
}

impl Proc {
    /// No process.
    pub const NONE: Proc = Proc { namespace: [0; 256], rank: 0 };

    /// The job's name as bytes, without the zero.
    pub fn job(&self) -> &[u8] {
        self.namespace.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

/// `pmix_value_t`: a type, and room for the longest of its kinds, an address or a number.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// One of `kind`.
    pub kind: u16,
    /// The number, or the address of a text; what is longer is never read.
    pub data: [u64; 3],
}

impl Value {
    /// A number that the type says is an unsigned one, or a signed one that is not negative.
    pub fn number(&self) -> Option<u64> {
        let word = self.data[0];
        match self.kind {
            kind::SIZE | kind::UINT64 => Some(word),
            kind::UINT32 => Some(word & u64::from(u32::MAX)),
            kind::UINT16 => Some(word & u64::from(u16::MAX)),
            kind::INT | kind::INT32 => u64::try_from(word as u32 as i32).ok(),
            _ => None,
        }
    }
}

/// `pmix_info_t`: an option of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Info {
    key: [u8; 512],
    flags: u32,
    value: Value,
}

impl Info {
    /// The option `key` with a truth.
    pub fn truth(key: &str) -> Info {
        Info::with(key, kind::BOOL, 1)
    }

    /// The option `key` with a number of C's type int.
    pub fn int(key: &str, number: i32) -> Info {
        Info::with(key, kind::INT, u64::from(number as u32))
    }

    fn with(key: &str, kind: u16, word: u64) -> Info {
        let mut info = Info { key: [0; 512], flags: 0, value: Value { kind, data: [word, 0, 0] } };
        // The last byte stays zero.
        info.key.iter_mut().zip(key.bytes().take(511)).for_each(|(to, from)| *to = from);
        info
    }
}

/// `pmix_data_type_t`.
pub mod kind {
    /// One byte.
    pub const BOOL: u16 = 1;
    /// The address of a text.
    pub const STRING: u16 = 3;
    /// size_t.
    pub const SIZE: u16 = 4;
    /// int.
    pub const INT: u16 = 6;
    /// int32_t.
    pub const INT32: u16 = 9;
    /// uint16_t.
    pub const UINT16: u16 = 13;
    /// uint32_t.
    pub const UINT32: u16 = 14;
    /// uint64_t.
    pub const UINT64: u16 = 15;
}

/// `pmix_status_t`.
pub type Status = c_int;
/// The call did what it should.
pub const SUCCESS: Status = 0;
/// It took longer than it may.
pub const TIMEOUT: Status = -24;
/// Nobody stored that.
pub const NOT_FOUND: Status = -46;
/// It is done already, and no callback comes.
pub const SUCCEEDED: Status = -157;
/// All ranks of a job: what holds for the job.
pub const WILDCARD: u32 = u32::MAX - 1;
/// `pmix_scope_t`: for ranks of all nodes.
pub const GLOBAL: u8 = 3;

/// Functions of libpmix.
pub type Init = unsafe extern "C" fn(*mut Proc, *mut Info, usize) -> Status;
/// See `Init`.
pub type Finalize = unsafe extern "C" fn(*const Info, usize) -> Status;
/// See `Init`.
pub type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> Status;
/// See `Init`.
pub type Commit = unsafe extern "C" fn() -> Status;
/// See `Init`.
pub type Get = unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> Status;
/// What a fence calls at its end.
pub type Fenced = unsafe extern "C" fn(Status, *mut core::ffi::c_void);
/// See `Init`.
pub type FenceNb =
    unsafe extern "C" fn(*const Proc, usize, *const Info, usize, Fenced, *mut core::ffi::c_void) -> Status;
/// See `Init`.
pub type Abort = unsafe extern "C" fn(c_int, *const c_char, *mut Proc, usize) -> Status;
/// See `Init`.
pub type ErrorString = unsafe extern "C" fn(Status) -> *const c_char;
/// See `Init`.
pub type GetVersion = unsafe extern "C" fn() -> *const c_char;

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    /// The numbers are those of `header.c`.
    #[test]
    fn sizes() {
        assert_eq!((size_of::<Proc>(), offset_of!(Proc, rank)), (260, 256));
        assert_eq!((size_of::<Value>(), offset_of!(Value, data)), (32, 8));
        assert_eq!((size_of::<Info>(), offset_of!(Info, flags), offset_of!(Info, value)), (552, 512, 520));
    }

    #[test]
    fn numbers_by_their_types() {
        let number = |kind, word| Value { kind, data: [word, 0, 0] }.number();
        let all = u64::MAX;
        assert_eq!((number(kind::UINT32, all), number(kind::UINT16, all)), (Some(0xffff_ffff), Some(0xffff)));
        assert_eq!((number(kind::SIZE, 7), number(kind::INT, 7), number(kind::INT, all)), (Some(7), Some(7), None));
        assert_eq!((number(kind::STRING, 7), number(kind::BOOL, 1), number(99, 1)), (None, None, None));
    }

    #[test]
    fn a_job_ends_at_the_zero() {
        let mut process = Proc::NONE;
        assert_eq!(process.job(), b"");
        process.namespace[..5].copy_from_slice(b"a.1\0x");
        assert_eq!(process.job(), b"a.1");
        process.namespace = [b'x'; 256];
        assert_eq!(process.job().len(), 256);
    }
}
