//! What Lustre is told of a file's stripes: `struct lov_user_md_v1` of its header `lustre_user.h`, in the byte order of the machine.

use ompi_core::file::Striping;

/// Where each word begins.
mod field {
    pub const MAGIC: usize = 0;
    pub const PATTERN: usize = 4;
    pub const STRIPE_BYTES: usize = 24;
    pub const DEVICES: usize = 28;
    pub const FIRST_DEVICE: usize = 30;
}

/// Its length.
pub const BYTES: usize = 32;

/// The structure for hints, or what Lustre cannot do of them.
pub fn stripes(wanted: &Striping) -> Result<[u8; BYTES], &'static str> {
    // 0 is what the folder says.
    let bytes = u32::try_from(wanted.unit.unwrap_or(0)).map_err(|_| "striping_unit is 4 GiB or more")?;
    if !bytes.is_multiple_of(UNIT) {
        return Err("striping_unit is no multiple of 65536");
    }
    let number = |given: Option<u32>, none: u16, why| match given {
        None => Ok(none),
        Some(given) => u16::try_from(given).ok().filter(|given| *given <= MOST_DEVICES).ok_or(why),
    };
    let devices = number(wanted.factor, 0, "striping_factor is more than 2000")?;
    let first = number(wanted.start_device, ANY_DEVICE, "start_iodevice is more than 2000")?;
    let mut told = [0; BYTES];
    let mut put = |at: usize, word: &[u8]| told[at..at + word.len()].copy_from_slice(word);
    put(field::MAGIC, &MAGIC.to_ne_bytes());
    put(field::PATTERN, &RAID0.to_ne_bytes());
    put(field::STRIPE_BYTES, &bytes.to_ne_bytes());
    put(field::DEVICES, &devices.to_ne_bytes());
    put(field::FIRST_DEVICE, &first.to_ne_bytes());
    Ok(told)
}

const MAGIC: u32 = 0x0bd1_0bd0;
const RAID0: u32 = 1;
const UNIT: u32 = 65536;
const MOST_DEVICES: u16 = 2000;
const ANY_DEVICE: u16 = u16::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_stand_where_lustre_looks_for_them() {
        let all = Striping { factor: Some(4), unit: Some(1 << 20), start_device: Some(3) };
        let mut told = [0u8; BYTES];
        told[..8].copy_from_slice(&[0xd0, 0x0b, 0xd1, 0x0b, 1, 0, 0, 0]);
        told[24..].copy_from_slice(&[0, 0, 0x10, 0, 4, 0, 3, 0]);
        assert_eq!(stripes(&all), Ok(told));
        // What is not asked for is the folder's.
        told[24..].copy_from_slice(&[0, 0, 0, 0, 9, 0, 0xff, 0xff]);
        assert_eq!(stripes(&Striping { factor: Some(9), ..Striping::default() }), Ok(told));
    }

    #[test]
    fn what_lustre_cannot_do_is_said() {
        let wrong = |striping| stripes(&striping).unwrap_err();
        assert!(wrong(Striping { unit: Some(1 << 32), ..Striping::default() }).contains("4 GiB"));
        assert!(wrong(Striping { unit: Some(65537), ..Striping::default() }).contains("multiple"));
        assert!(wrong(Striping { factor: Some(2001), ..Striping::default() }).contains("striping_factor"));
        assert!(wrong(Striping { start_device: Some(65536), ..Striping::default() }).contains("start_iodevice"));
    }
}
