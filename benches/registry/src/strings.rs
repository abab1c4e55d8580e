//! Strings and numbers one after the other, as both string-keyed encodings write them.

/// Reads what was written, from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next bytes; `None` at the end.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next big-endian number.
    pub fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    /// The next string, whose length comes before it in four bytes.
    pub fn string(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    /// The next string, whose length comes before it in one byte.
    pub fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.byte()?;
        self.take(usize::from(length))
    }
}

/// A contact as people write it: `10.1.0.3:40000`.
pub fn written(contact: &[u8]) -> String {
    let port = u16::from_be_bytes([contact[4], contact[5]]);
    format!("{}.{}.{}.{}:{port}", contact[0], contact[1], contact[2], contact[3])
}

/// The six bytes of a contact that [`written`] wrote.
pub fn read(text: &str) -> Option<[u8; 6]> {
    let (address, port) = text.split_once(':')?;
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    let mut contact = [0; 6];
    contact[..4].copy_from_slice(&address.octets());
    contact[4..].copy_from_slice(&port.parse::<u16>().ok()?.to_be_bytes());
    Some(contact)
}
