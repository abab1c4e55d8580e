//! Numbers and texts in frames: little-endian, texts and lists behind their length.

use super::OobFlaw;
use alloc::string::String;
use alloc::vec::Vec;

/// Appends values.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes behind their number. Frames are far shorter than 4 GiB.
    pub fn bytes(&mut self, value: &[u8]) {
        self.u32(value.len() as u32);
        self.0.extend_from_slice(value);
    }

    /// The elements behind their number.
    pub fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.u32(values.len() as u32);
        values.iter().for_each(|value| write(self, value));
    }

    /// Whether there is one, and then it.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Takes values from bytes of unknown origin.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], OobFlaw> {
        let (value, rest) = self.0.split_at_checked(count).ok_or(OobFlaw::Length)?;
        self.0 = rest;
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OobFlaw> {
        let mut value = [0; N];
        value.copy_from_slice(self.take(N)?);
        Ok(value)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, OobFlaw> {
        Ok(self.array::<1>()?[0])
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, OobFlaw> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, OobFlaw> {
        self.array().map(u64::from_le_bytes)
    }

    /// A byte that is 0 or 1.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, OobFlaw> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(OobFlaw::Field(name)),
        }
    }

    /// Bytes behind their number.
    pub fn bytes(&mut self) -> Result<Vec<u8>, OobFlaw> {
        let count = self.u32()? as usize;
        Ok(self.take(count)?.to_vec())
    }

    /// A text.
    pub fn text(&mut self, name: &'static str) -> Result<String, OobFlaw> {
        String::from_utf8(self.bytes()?).map_err(|_| OobFlaw::Field(name))
    }

    /// Elements behind their number; none is shorter than a byte, so a number without elements reserves nothing.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, OobFlaw>) -> Result<Vec<T>, OobFlaw> {
        let count = self.u32()? as usize;
        if count > self.0.len() {
            return Err(OobFlaw::Length);
        }
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(read(self)?);
        }
        Ok(values)
    }

    /// Whether there is one, and then it.
    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, OobFlaw>) -> Result<Option<T>, OobFlaw> {
        if self.flag("choice")? { read(self).map(Some) } else { Ok(None) }
    }

    /// Nothing is left.
    pub fn end(&self) -> Result<(), OobFlaw> {
        if self.0.is_empty() { Ok(()) } else { Err(OobFlaw::Length) }
    }
}
