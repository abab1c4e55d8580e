//! Bytes as hexadecimal text, which every manager's store keeps unchanged.

use alloc::string::String;
use core::fmt::Write;

/// Two digits a byte.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A String takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The bytes, into anything that can be made of so many.
pub fn decode<B: TryFrom<alloc::vec::Vec<u8>>>(text: &str) -> Option<B> {
    let digit = |character: u8| char::from(character).to_digit(16);
    let mut bytes = alloc::vec::Vec::with_capacity(text.len() / 2);
    for pair in text.as_bytes().chunks(2) {
        let [high, low] = pair else { return None };
        bytes.push((digit(*high)? << 4 | digit(*low)?) as u8);
    }
    B::try_from(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn what_is_encoded_is_decoded() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode::<Vec<u8>>(&encode(&all)), Some(all));
        assert_eq!(decode::<[u8; 2]>("00fF"), Some([0, 255]));
        for wrong in ["0", "0g", "é", "000000"] {
            assert_eq!(decode::<[u8; 2]>(wrong), None, "{wrong}");
        }
    }
}
