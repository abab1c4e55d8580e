//! PMI-2's bytes. First one line each way agrees on the version, as in PMI-1. Then come packets: their length as six characters,
//! and words `key=value`, each with a semicolon at its end, the first key being `cmd`.
//!
//! A semicolon within a value is written twice. Only messages for people contain some.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What this side says first.
pub const HELLO: &str = "cmd=init pmi_version=2 pmi_subversion=0\n";
/// Longest first line of a manager that is read, in bytes. Slurm's has at most 64.
pub const LINE_MAX: usize = 1024;
/// Characters of a length, which bound a packet to 999,999 bytes.
const LENGTH: usize = 6;

/// The version in the manager's first line, without its newline; `Err` if it is no such line.
pub fn version(line: &[u8]) -> Option<(&str, &str)> {
    let text = core::str::from_utf8(line).ok()?.trim_end();
    let words = || text.split(' ').filter_map(|word| word.split_once('='));
    let value = |key: &str| words().find(|(name, _)| *name == key).map(|(_, value)| value);
    value("cmd").filter(|command| *command == "response_to_init")?;
    Some((value("pmi_version")?, value("pmi_subversion").unwrap_or("0")))
}

/// A packet of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a>(&'a str);

impl<'a> Reply<'a> {
    /// A packet without its length; `None` if it is malformed.
    pub fn parse(packet: &'a [u8]) -> Option<Reply<'a>> {
        let text = core::str::from_utf8(packet).ok()?;
        (text.starts_with("cmd=") && text.ends_with(';')).then_some(Reply(text))
    }

    /// What it is about.
    pub fn command(&self) -> &'a str {
        self.value("cmd").unwrap_or_default()
    }

    /// The value of a key, semicolons as they are written.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.0;
        while let Some(end) = end_of_word(rest) {
            match rest[..end].split_once('=') {
                Some((name, value)) if name == key => return Some(value),
                _ => rest = &rest[end + 1..],
            }
        }
        None
    }

    /// The value of a key that is a number.
    pub fn number<N: core::str::FromStr>(&self, key: &str) -> Option<N> {
        self.value(key)?.parse().ok()
    }

    /// Whether it says that the request failed.
    pub fn is_refusal(&self) -> bool {
        self.value("rc").is_some_and(|status| status != "0")
    }

    /// All of it, for people: cut where it is long, since somebody else wrote it.
    pub fn text(&self) -> &'a str {
        &self.0[..self.0.floor_char_boundary(200)]
    }
}

/// Where the first semicolon stands that ends a word.
fn end_of_word(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == b';')?;
        match bytes.get(at + 1) {
            Some(b';') => at += 2,
            _ => return Some(at),
        }
    }
}

/// A request, with its length. No value contains a semicolon.
pub fn request(command: &str, pairs: &[(&str, &str)]) -> String {
    let mut words = format!("cmd={command};");
    for (key, value) in pairs {
        for part in [key, "=", value, ";"] {
            words.push_str(part);
        }
    }
    format!("{:<LENGTH$}{words}", words.len())
}

/// What stands where a packet begins is no length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLength;

/// Takes the first packet, without its length, out of what was read: `Ok(None)` if not all of it is here.
pub fn take_packet(read: &mut Vec<u8>) -> Result<Option<Vec<u8>>, NoLength> {
    let Some(length) = read.get(..LENGTH) else { return Ok(None) };
    let length = core::str::from_utf8(length).map_err(|_| NoLength)?.trim_matches(' ');
    let length: usize = match length.bytes().all(|byte| byte.is_ascii_digit()) {
        true => length.parse().map_err(|_| NoLength)?,
        false => return Err(NoLength),
    };
    if read.len() < LENGTH + length {
        return Ok(None);
    }
    let rest = read.split_off(LENGTH + length);
    let packet = core::mem::replace(read, rest).split_off(LENGTH);
    Ok(Some(packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orte_core::direct::socket::take_line;

    #[test]
    fn packets() {
        let whole = b"45    cmd=kvs-get-response;rc=0;found=TRUE;value=b;11".as_slice();
        for end in 0..whole.len() - 2 {
            let mut read = whole[..end].to_vec();
            assert_eq!((take_packet(&mut read), read.len()), (Ok(None), end), "not all of it is here");
        }
        let mut read = whole.to_vec();
        let packet = take_packet(&mut read).unwrap().unwrap();
        let reply = Reply::parse(&packet).unwrap();
        assert_eq!((reply.command(), reply.value("value"), reply.is_refusal()), ("kvs-get-response", Some("b"), false));
        assert_eq!((reply.value("val"), reply.number::<u32>("rc"), read.as_slice()), (None, Some(0), b"11".as_slice()));
        let reply = Reply::parse(b"cmd=x;errmsg=a;;value=c;;;value=d;rc=-1;").unwrap();
        assert_eq!((reply.value("errmsg"), reply.value("value")), (Some("a;;value=c;;"), Some("d")));
        assert!(reply.is_refusal());
        for wrong in [&b""[..], b"cmd=x", b"rc=0;", b"\xff", b";cmd=;"] {
            assert_eq!(Reply::parse(wrong), None);
        }
        for wrong in [&b"      "[..], b"-1    ", b"1 2   ", b"0x10  ", b"\xff\xff    ", b"+1    "] {
            assert_eq!(take_packet(&mut wrong.to_vec()), Err(NoLength), "{wrong:?}");
        }
        // MPICH writes lengths to the right.
        assert_eq!(take_packet(&mut b"     2;;".to_vec()), Ok(Some(b";;".to_vec())));
    }

    #[test]
    fn a_request_is_a_packet() {
        let text = request("kvs-put", &[("key", "a"), ("value", "(vector,(0,2,2))")]);
        assert_eq!(text, "41    cmd=kvs-put;key=a;value=(vector,(0,2,2));");
        let packet = take_packet(&mut text.into_bytes()).unwrap().unwrap();
        assert_eq!(Reply::parse(&packet).unwrap().value("value"), Some("(vector,(0,2,2))"));
    }

    #[test]
    fn the_first_line() {
        let mut read = Vec::from(b"cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n1".as_slice());
        let line = take_line(&mut read).unwrap();
        assert_eq!((version(&line), read.as_slice()), (Some(("2", "0")), b"1".as_slice()));
        for wrong in [&b""[..], b"cmd=init pmi_version=2", b"cmd=response_to_init", b"\xff"] {
            assert_eq!(version(wrong), None);
        }
    }
}
