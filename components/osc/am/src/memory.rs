//! The memory of a window that others may touch: one piece, or those that were attached.

use ompi_core::data::Data;
use ompi_core::datatype::{self, Datatype};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::{Flavor, Part};
use ompi_core::win::attached::Attached;
use opal_core::sync::ConditionalLock;

/// Addresses as numbers: what messages say is compared with them before anything is touched.
pub struct Memory {
    base: usize,
    part: Part,
    attached: Option<ConditionalLock<Attached>>,
}

/// Data of which [`Memory::place`] found that it lies in the memory.
pub struct Place<'a>(Data<'a>);

impl<'a> Place<'a> {
    /// Where.
    pub fn data(self) -> Data<'a> {
        self.0
    }
}

impl Memory {
    /// Of a window at an address.
    pub fn new(flavor: Flavor, base: *mut u8, part: Part) -> Memory {
        let attached = (flavor == Flavor::Dynamic).then(|| ConditionalLock::new(Attached::default()));
        Memory { base: base.expose_provenance(), part, attached }
    }

    /// Where it begins; null if it is dynamic.
    pub fn base(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.base)
    }

    /// Whether memory is attached to it.
    pub fn is_dynamic(&self) -> bool {
        self.attached.is_some()
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.part.bytes
    }

    /// All of it, if there is any and it is one piece.
    pub fn whole(&self) -> Option<Place<'static>> {
        let is_any = !self.is_dynamic() && self.part.bytes > 0;
        is_any.then(|| Place(Data { at: self.base(), count: self.part.bytes, datatype: datatype::byte() }))
    }

    /// `count` elements at a displacement, all of whose bytes lie in the memory.
    #[inline(always)]
    pub fn place<'a>(&self, displacement: i64, count: u64, datatype: &'a Datatype) -> Result<Place<'a>> {
        match self.run(displacement, count, datatype) {
            Some(at) => {
                let at = core::ptr::with_exposed_provenance_mut(at);
                Ok(Place(Data { at, count: count as usize, datatype }))
            }
            None => self.place_of_any(displacement, count, datatype),
        }
    }

    /// The address of data without gaps in the window's one piece of memory: what nearly every access asks for, in a few instructions.
    #[inline(always)]
    fn run(&self, displacement: i64, count: u64, datatype: &Datatype) -> Option<usize> {
        let layout = &datatype.layout;
        if self.attached.is_some() || !layout.is_contiguous() {
            return None;
        }
        let bytes = count.checked_mul(layout.size() as u64)?;
        // A negative displacement is a number that no memory is as long as.
        let at = (displacement as u64).checked_mul(self.part.unit as u64)?;
        let left = (self.part.bytes as u64).checked_sub(at)?;
        (bytes <= left).then(|| self.base + at as usize)
    }

    #[inline(never)]
    fn place_of_any<'a>(&self, displacement: i64, count: u64, datatype: &'a Datatype) -> Result<Place<'a>> {
        let layout = &datatype.layout;
        let outside = || Fault::new(Class::RmaRange).because("it is not all in the target's memory");
        let count = usize::try_from(count).map_err(|_| outside())?;
        let from = match self.attached {
            Some(_) => i128::from(displacement),
            None => self.base as i128 + i128::from(displacement) * i128::from(self.part.unit),
        };
        let at = usize::try_from(from).ok();
        if count > 0 && layout.size() > 0 {
            let last = (count as i128 - 1)
                .checked_mul(layout.extent() as i128)
                .filter(|last| last.unsigned_abs() <= u128::from(u64::MAX))
                .ok_or_else(outside)?;
            let low = from + layout.true_lb() as i128 + last.min(0);
            let high = from + layout.true_lb() as i128 + last.max(0) + layout.true_extent() as i128;
            if at.is_none() || !self.holds(low, high) {
                return Err(outside());
            }
        }
        Ok(Place(Data { at: core::ptr::with_exposed_provenance_mut(at.unwrap_or(0)), count, datatype }))
    }

    fn holds(&self, low: i128, high: i128) -> bool {
        match &self.attached {
            Some(attached) => attached.lock().holds(low, high),
            None => low >= self.base as i128 && high <= self.base as i128 + self.part.bytes as i128,
        }
    }

    /// Adds memory to a dynamic window.
    pub fn attach(&self, base: *mut u8, bytes: usize) -> Result<()> {
        let base = base.expose_provenance();
        self.attached.as_ref().ok_or(Class::RmaFlavor)?.lock().attach(base, bytes)
    }

    /// Takes memory away.
    pub fn detach(&self, base: *mut u8) -> Result<()> {
        self.attached.as_ref().ok_or(Class::RmaFlavor)?.lock().detach(base.addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ompi_core::datatype;

    #[test]
    fn nothing_outside_is_a_place() {
        datatype::open();
        let mut bytes = [0u8; 64];
        let memory = Memory::new(Flavor::Create, bytes.as_mut_ptr(), Part { bytes: 64, unit: 4 });
        let int = datatype::borrow(521).unwrap();
        assert_eq!(memory.place(3, 13, int).unwrap().data().at, bytes.as_mut_ptr().wrapping_add(12));
        for (displacement, count) in
            [(3, 14), (-1, 1), (16, 1), (i64::MAX, 1), (i64::MIN, 1), (0, u64::MAX), (0, 1 << 62), (1 << 62, 1)]
        {
            let fault = memory.place(displacement, count, int).err().unwrap();
            assert_eq!(fault.get(), Class::RmaRange as i32, "{displacement} {count}");
        }
        memory.place(1 << 40, 0, int).unwrap();
        assert!(memory.attach(bytes.as_mut_ptr(), 8).is_err());
    }

    #[test]
    fn attached_memory_comes_and_goes() {
        opal_core::sync::raise_threads();
        datatype::open();
        let mut bytes = [0u8; 64];
        let at = bytes.as_mut_ptr();
        let memory = Memory::new(Flavor::Dynamic, core::ptr::null_mut(), Part { bytes: 0, unit: 1 });
        let int = datatype::borrow(521).unwrap();
        let address = at.expose_provenance() as i64;
        assert!(memory.place(address, 1, int).is_err());
        memory.attach(at, 16).unwrap();
        memory.attach(at.wrapping_add(32), 16).unwrap();
        assert_eq!(memory.attach(at.wrapping_add(15), 2).unwrap_err().get(), Class::RmaAttach as i32);
        assert!(memory.place(address, 4, int).is_ok() && memory.place(address, 5, int).is_err());
        assert!(memory.place(address + 32, 4, int).is_ok() && memory.place(address + 12, 6, int).is_err());
        memory.detach(at).unwrap();
        assert_eq!(memory.detach(at).unwrap_err().get(), Class::Base as i32);
        assert!(memory.place(address, 4, int).is_err());
    }
}
