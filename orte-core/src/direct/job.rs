//! What rank 0 puts into the manager's store for all ranks: the library's version, the job's number and the job's secret.

use super::hex;
use crate::job;
use alloc::format;
use alloc::string::String;
use opal_core::sys::random;
use rustix::io::Result;

/// A job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Random but for its number, so that another job's memory is never taken for this one's.
    pub number: u64,
    /// Proof that a connection comes from one of its processes.
    pub secret: [u8; 32],
}

impl Job {
    /// A new one.
    pub fn new() -> Result<Job> {
        Ok(Job { number: job::numbered(u64::from_le_bytes(random()?), 1), secret: random()? })
    }

    /// As one word.
    pub fn encode(&self) -> String {
        format!("{VERSION}:{:x}:{}", self.number, hex::encode(&self.secret))
    }

    /// `Err` with a sentence, also for that of another version of this library.
    pub fn decode(text: &str) -> core::result::Result<Job, String> {
        let unreadable = || format!("what rank 0 says of the job cannot be read: it has {} characters", text.len());
        let mut words = text.split(':');
        let (Some(version), Some(number), Some(secret), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(unreadable());
        };
        if version != VERSION {
            return Err(format!(
                "rank 0 runs ompi-rs {version}, this rank {VERSION}; link and start all programs of a job with the same ompi-rs"
            ));
        }
        let number = u64::from_str_radix(number, 16).map_err(|_| unreadable())?;
        Ok(Job { number, secret: hex::decode(secret).ok_or_else(unreadable)? })
    }
}

/// Without the secret, which nobody is to read in a log.
impl core::fmt::Debug for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Job").field("number", &self.number).finish_non_exhaustive()
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let job = Job { number: 0xfeed, secret: core::array::from_fn(|at| at as u8) };
        assert_eq!(Job::decode(&job.encode()), Ok(job));
        assert_eq!(format!("{job:?}"), "Job { number: 65261, .. }", "the secret is in no log");
        let other = job.encode().replacen(VERSION, "9.9.9", 1);
        let sentence = Job::decode(&other).unwrap_err();
        assert!(sentence.contains("ompi-rs 9.9.9") && sentence.contains(VERSION), "{sentence}");
        for end in 0..job.encode().len() {
            assert!(Job::decode(&job.encode()[..end]).is_err());
        }
        assert!(Job::decode(&format!("{}:", job.encode())).is_err());
    }
}
