//! What the boot line says of a rank, as the contract that launchers leave to hosted ranks.

use crate::environment::{BOOT_SIZE, Contract};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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

/// What the boot line says that only the machines of the job know, by which they know each other. `Err` with a sentence.
pub fn secret<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Option<[u8; 32]>, String> {
    let Some(text) = variable("SECRET") else { return Ok(None) };
    let digits: Option<Vec<u8>> = text.chars().map(|letter| letter.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes =
        digits.map(|digits| digits.chunks(2).map(|pair| pair.iter().fold(0, |all, digit| all << 4 | digit)).collect());
    let secret = bytes.and_then(|bytes: Vec<u8>| <[u8; 32]>::try_from(bytes).ok()).filter(|_| text.len() == 64);
    secret.map(Some).ok_or_else(|| {
        format!(
            "the boot line says secret= and {} letters; write 64 hexadecimal digits, the same for all machines",
            text.len()
        )
    })
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
    use alloc::borrow::ToOwned;
    use alloc::vec;

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
    fn secrets() {
        let read = |text: &'static str| secret(|name| (name == "SECRET").then_some(text));
        assert_eq!(secret(|_| None), Ok(None));
        let digits = "00ff0123456789abcdefABCDEF000000000000000000000000000000000000a1";
        let secret = read(digits).unwrap().unwrap();
        assert_eq!((secret[..4].to_vec(), secret[31]), (vec![0, 0xff, 1, 0x23], 0xa1));
        for wrong in ["", "12", &digits[1..], &digits.replace('f', "g").leak()[..]] {
            assert!(read(wrong.to_owned().leak()).unwrap_err().contains("64 hexadecimal digits"), "{wrong}");
        }
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
