//! What a process publishes: the addresses of all its transports.
//!
//! Per transport: length of its name u8, name, length of its address u16 little-endian, address. Several modules of one
//! component follow each other in the order of its `query`; a peer's modules get all of them.

use alloc::vec::Vec;

/// Appends one transport.
pub fn push(to: &mut Vec<u8>, name: &str, address: &[u8]) {
    let (name_bytes, bytes) = (u8::try_from(name.len()), u16::try_from(address.len()));
    to.push(name_bytes.expect("a component's name is short"));
    to.extend(name.as_bytes());
    to.extend(bytes.expect("a transport's address is short").to_le_bytes());
    to.extend(address);
}

/// Takes the first transport off; `None` at the end and where the bytes follow no format.
pub fn pop<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(*length as usize)?;
    let (length, rest) = rest.split_first_chunk()?;
    let (address, rest) = rest.split_at_checked(u16::from_le_bytes(*length) as usize)?;
    *bytes = rest;
    Some((name, address))
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
        for length in 8..bytes.len() {
            let mut cut = &bytes[..length];
            pop(&mut cut).unwrap();
            assert_eq!(pop(&mut cut), None);
        }
    }
}
