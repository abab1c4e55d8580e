//! What the boot line says of a rank, as the contract that launchers leave to hosted ranks.

use alloc::format;
use alloc::string::String;
use orte_core::environment::{BOOT_SIZE, Contract};

/// Reads the variables that the boot line became: `Ok(None)` if it names no job of several ranks, `Err` with a sentence if
/// what it says cannot be.
pub fn contract<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Contract>, String> {
    if variable(BOOT_SIZE).is_none() {
        return Ok(None);
    }
    let size = number(&variable, BOOT_SIZE, None)?;
    let rank = number(&variable, "RANK", (size == 1).then_some(0))?;
    let local_rank = number(&variable, "LOCAL_RANK", Some(rank))?;
    let local_size = number(&variable, "LOCAL_SIZE", Some(size))?;
    let universe = number(&variable, "UNIVERSE", Some(size))?;
    let app = number(&variable, "APP", Some(0))?;
    if rank >= size {
        return Err(format!("the boot line says rank={rank} and size={size}; ranks are counted from 0"));
    }
    if local_size > size || local_rank >= local_size {
        return Err(format!(
            "the boot line says local_rank={local_rank}, local_size={local_size} and size={size}, which is impossible"
        ));
    }
    let job = variable("JOB").unwrap_or("");
    let job = u64::from_str_radix(job, 16).map_err(|_| {
        format!(
            "the boot line says job={job}, which is no hexadecimal number; {size} ranks need the number of their job"
        )
    });
    let job = if size == 1 { job.unwrap_or(0) } else { job? };
    let (segment, launcher, wireup, output) = (-1, None, None, None);
    Ok(Some(Contract { job, rank, size, local_rank, local_size, universe, app, segment, launcher, wireup, output }))
}

fn number<'a>(variable: impl Fn(&str) -> Option<&'a str>, name: &str, default: Option<u32>) -> Result<u32, String> {
    let key = name.to_ascii_lowercase();
    match (variable(name), default) {
        (Some(text), _) => text.parse().map_err(|_| format!("the boot line says {key}={text}, which is no number")),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(format!("the boot line says size= but not {key}=")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &'static str)]) -> Result<Option<Contract>, String> {
        contract(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value))
    }

    #[test]
    fn places() {
        assert_eq!(read(&[]), Ok(None));
        let both = read(&[("SIZE", "2"), ("RANK", "1"), ("JOB", "fe")]).unwrap().unwrap();
        assert_eq!((both.rank, both.size, both.local_rank, both.local_size, both.job), (1, 2, 1, 2, 0xfe));
        assert_eq!(read(&[("SIZE", "1")]).unwrap().unwrap().rank, 0);
    }

    #[test]
    fn every_flaw_is_named() {
        for (pairs, word) in [
            (&[("SIZE", "x")][..], "size=x"),
            (&[("SIZE", "2")], "rank="),
            (&[("SIZE", "2"), ("RANK", "2"), ("JOB", "1")], "rank=2"),
            (&[("SIZE", "2"), ("RANK", "-1"), ("JOB", "1")], "rank=-1"),
            (&[("SIZE", "2"), ("RANK", "0")], "job="),
            (&[("SIZE", "2"), ("RANK", "0"), ("JOB", "xyz")], "job=xyz"),
            (&[("SIZE", "2"), ("RANK", "0"), ("JOB", "1"), ("LOCAL_SIZE", "3")], "local_size=3"),
        ] {
            let sentence = read(pairs).unwrap_err();
            assert!(sentence.contains(word), "{pairs:?}: {sentence}");
        }
    }
}
