//! What a process publishes: tag (4 bytes) · where its file is, three u64; little-endian.

use alloc::vec::Vec;
use opal_core::sys::Place;

/// As it travels.
pub fn encode(place: &Place) -> Vec<u8> {
    let mut bytes = Vec::from(TAG);
    place.words().iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes
}

/// `None` if another component or version wrote it.
pub fn decode(bytes: &[u8]) -> Option<Place> {
    let (tag, rest) = bytes.split_first_chunk::<4>()?;
    let (words, rest) = rest.as_chunks::<8>();
    let words: [[u8; 8]; Place::WORDS] = words.try_into().ok()?;
    if *tag != TAG || !rest.is_empty() {
        return None;
    }
    Place::of_words(words.map(u64::from_le_bytes))
}

const TAG: [u8; 4] = *b"map1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_cut_off() {
        let place = Place::of_words([77 | 5 << 32, 1, 4711]).unwrap();
        let bytes = encode(&place);
        assert_eq!(decode(&bytes), Some(place));
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None);
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(decode(&[&bytes[..], &[0; 8]].concat()), None);
        assert_eq!(decode(&[&b"map2"[..], &bytes[4..]].concat()), None);
        assert_eq!(decode(&[&bytes[..4], &[0; 24]].concat()), None);
    }
}
