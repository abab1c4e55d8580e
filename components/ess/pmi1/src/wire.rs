//! A line of PMI-1: words `key=value` with single spaces between them, the first key being `cmd`, and a newline.

use alloc::string::String;

/// Longest line of a manager that is read, in bytes. Those of Hydra have at most 4 KiB.
pub const LINE_MAX: usize = 64 << 10;

/// One line of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a>(&'a str);

impl<'a> Reply<'a> {
    /// A line without its newline; `None` if it is malformed.
    pub fn parse(line: &'a [u8]) -> Option<Reply<'a>> {
        let text = core::str::from_utf8(line).ok()?.trim();
        text.starts_with("cmd=").then_some(Reply(text))
    }

    /// What it is about.
    pub fn command(&self) -> &'a str {
        self.value("cmd").unwrap_or_default()
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.0.split(' ').filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key).map(|(_, value)| value)
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

/// A request.
pub fn request(command: &str, pairs: &[(&str, &str)]) -> String {
    let mut line = String::from("cmd=");
    line.push_str(command);
    for (key, value) in pairs {
        for part in [" ", key, "=", value] {
            line.push_str(part);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use orte_core::direct::socket::take_line;

    #[test]
    fn lines() {
        let mut read = Vec::from(b"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\ncmd=fin".as_slice());
        let line = take_line(&mut read).unwrap();
        let reply = Reply::parse(&line).unwrap();
        assert_eq!(
            (reply.command(), reply.number::<u32>("vallen_max"), reply.is_refusal()),
            ("maxes", Some(1024), false)
        );
        assert_eq!((reply.value("max"), reply.number::<u32>("cmd")), (None, None));
        assert_eq!((take_line(&mut read), read.as_slice()), (None, b"cmd=fin".as_slice()));
        assert!(Reply::parse(b"cmd=get_result rc=-1 msg=key_not_found").unwrap().is_refusal());
        let value = "(vector,(0,2,2))";
        let line = request("get_result", &[("rc", "0"), ("value", value)]);
        assert_eq!(Reply::parse(line.as_bytes()).unwrap().value("value"), Some(value));
        for wrong in [&b""[..], b"cmd", b"get=1", b"\xff", b" =cmd="] {
            assert_eq!(Reply::parse(wrong), None);
        }
    }
}
