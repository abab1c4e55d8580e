//! The addresses that a process publishes: those of its transports, and of other components by which peers reach it.
//!
//! An entry is the length of its name (u8), the name, the length of its address (u16 little-endian), the address:
//!
//! | name | address |
//! |---|---|
//! | a component of framework btl | of one of its modules, in the order of `query`; a peer's modules get all of them |
//! | `framework/component` | of any other component |
//! | `process/cores` | the cores of the process |
//! | `process/host` | the name of its host, for people |
//!
//! A reader skips the names that it does not know.

use alloc::vec::Vec;

/// Appends one.
pub fn push(to: &mut Vec<u8>, name: &str, address: &[u8]) {
    let (name_bytes, bytes) = (u8::try_from(name.len()), u16::try_from(address.len()));
    to.push(name_bytes.expect("a component's name is short"));
    to.extend(name.as_bytes());
    to.extend(bytes.expect("an address is short").to_le_bytes());
    to.extend(address);
}

/// Takes the first off; `None` at the end and where the bytes follow no format.
pub fn pop<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(*length as usize)?;
    let (length, rest) = rest.split_first_chunk()?;
    let (address, rest) = rest.split_at_checked(u16::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some((name, address))
}

/// The first address under a name that begins with `framework/` and ends with `component`.
pub fn find<'a>(bytes: &'a [u8], framework: &str, component: &str) -> Option<&'a [u8]> {
    first(bytes, |name| {
        let rest = name.strip_prefix(framework.as_bytes()).and_then(|rest| rest.strip_prefix(b"/"));
        rest == Some(component.as_bytes())
    })
}

/// The first address under a name.
pub fn find_named<'a>(bytes: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    first(bytes, |name| name == wanted.as_bytes())
}

fn first(mut bytes: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<&[u8]> {
    while let Some((name, address)) = pop(&mut bytes) {
        if wanted(name) {
            return Some(address);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_cut_off() {
        let mut bytes = Vec::new();
        push(&mut bytes, "self", &[]);
        push(&mut bytes, "sm", &[1, 2, 3]);
        let mut rest = &bytes[..];
        assert_eq!(pop(&mut rest), Some((&b"self"[..], &[][..])));
        assert_eq!(pop(&mut rest), Some((&b"sm"[..], &[1, 2, 3][..])));
        assert_eq!(pop(&mut rest), None);
        push(&mut bytes, "smsc/cma", &[4]);
        assert_eq!(find(&bytes, "smsc", "cma"), Some(&[4][..]));
        assert_eq!(find(&bytes, "smsc", "cm"), None);
        assert_eq!(find(&bytes, "btl", "sm"), None);
        assert_eq!(find_named(&bytes, "sm"), Some(&[1, 2, 3][..]));
        assert_eq!(find_named(&bytes, "cma"), None);
        bytes.truncate(bytes.len() - "smsc/cma".len() - 4);
        for length in 8..bytes.len() {
            let mut cut = &bytes[..length];
            pop(&mut cut).unwrap();
            assert_eq!(pop(&mut cut), None);
        }
    }
}
