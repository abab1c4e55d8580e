//! Views: which bytes of a file a process sees, in which order. MPI 5.0 §14.3.
//!
//! A view is a displacement and a datatype that is laid end to end from there on. The bytes that it shows are counted
//! from 0; a *position* here is such a count. Nothing is listed: the datatype engine finds the place of any position.

use crate::datatype::{self, Datatype};
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::sync::Arc;
use opal_core::datatype::{Layout, Run};

/// How data lies in a file. MPI 5.0 §14.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As in memory: all processes of a job have the same machine.
    Internal,
    /// Big-endian, IEEE 754.
    External32,
}

impl Representation {
    /// By its name.
    pub fn named(name: &str) -> Result<Representation> {
        match name {
            "native" => Ok(Representation::Native),
            "internal" => Ok(Representation::Internal),
            "external32" => Ok(Representation::External32),
            _ => {
                let why =
                    format!("{name} is no representation of this library, which has native, internal and external32");
                Err(Fault::new(Class::UnsupportedDatarep).argument("datarep").because(why))
            }
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
        }
    }

    /// Refuses a datatype whose data has another length in the file than in memory.
    pub fn check(self, datatype: &Datatype) -> Result<()> {
        let (here, there) = (datatype.layout.size(), datatype.layout.external_size());
        match self == Representation::External32 && here != there {
            false => Ok(()),
            true => {
                let why = format!(
                    "external32 gives it {there} bytes, memory {here}; such data is not converted for files yet"
                );
                Err(Fault::new(Class::UnsupportedDatarep).argument("datatype").because(why))
            }
        }
    }
}

/// What one process sees of a file.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it begins, in bytes.
    pub displacement: u64,
    /// Offsets count elements of this type.
    pub etype: Arc<Datatype>,
    /// Laid end to end it says which bytes are seen.
    pub filetype: Arc<Datatype>,
    /// How data lies there.
    pub representation: Representation,
    /// Whether parts of the filetype overlap; [`View::check`] finds out.
    pub overlaps: bool,
}

impl View {
    /// All bytes of the file: the view after MPI_File_open.
    ///
    /// # Panics
    /// Before MPI is initialised.
    pub fn whole() -> View {
        let byte = datatype::get(datatype::BYTE).expect("predefined datatypes are made before anything uses them");
        View {
            displacement: 0,
            etype: byte.clone(),
            filetype: byte,
            representation: Representation::Native,
            overlaps: false,
        }
    }

    /// Checks what the standard asks of a view; `writes` if the file may be written.
    pub fn check(&mut self, writes: bool) -> Result<()> {
        let wrong = |argument, why: &str| Err(Fault::new(Class::Arg).argument(argument).because(why));
        for (datatype, argument) in [(&self.etype, "etype"), (&self.filetype, "filetype")] {
            self.representation.check(datatype).map_err(|fault| fault.renamed("datatype", argument))?;
        }
        let (etype, filetype) = (&self.etype.layout, &self.filetype.layout);
        if etype.size() == 0 {
            return wrong("etype", "it has no data");
        }
        if !filetype.size().is_multiple_of(etype.size()) {
            return wrong("filetype", "its size is no multiple of that of the etype");
        }
        if !is_made_of(filetype, etype) {
            return wrong("filetype", "its pieces are not whole etypes");
        }
        for (layout, argument) in [(etype, "etype"), (filetype, "filetype")] {
            match order(layout) {
                Order::Sorted => {}
                Order::Overlapping if argument == "etype" => {}
                Order::Overlapping if !writes => self.overlaps = true,
                Order::Overlapping => return wrong(argument, "parts of it overlap, and the file may be written"),
                Order::Negative => return wrong(argument, "it has a negative displacement"),
                Order::Backwards => return wrong(argument, "its displacements do not grow"),
            }
        }
        match filetype.extent() > 0 || filetype.size() == 0 {
            true => Ok(()),
            false => wrong("filetype", "its extent is not above zero, and so it cannot be laid end to end"),
        }
    }

    /// Whether each place lies behind the one before: no parts of the filetype overlap, and none of its turns.
    pub fn grows(&self) -> bool {
        let layout = &self.filetype.layout;
        layout.is_contiguous()
            || !self.overlaps && layout.true_lb() as i64 + layout.true_extent() as i64 <= layout.extent() as i64
    }

    /// Bytes of an etype.
    pub fn unit(&self) -> u64 {
        self.etype.layout.size() as u64
    }

    /// Checks that all bytes up to a position lie where a file can have some.
    pub fn check_reach(&self, position: u64) -> Result<()> {
        let (size, extent) = (self.filetype.layout.size() as u64, self.filetype.layout.extent() as u64);
        let turns = position.checked_div(size).unwrap_or(0);
        let end = turns.checked_add(1).and_then(|turns| turns.checked_mul(extent));
        let span = self.filetype.layout.true_lb().unsigned_abs() as u64 + self.filetype.layout.true_extent() as u64;
        let end = end.and_then(|end| end.checked_add(span)?.checked_add(self.displacement));
        match end.is_some_and(|end| i64::try_from(end).is_ok()) {
            true => Ok(()),
            false => Err(Fault::new(Class::Arg).argument("offset").because("no file is as long as that")),
        }
    }

    /// Calls back with the places in the file of `bytes` bytes from a position on, each with its length, until `each` has
    /// enough. [`View::check_reach`] was asked about the last of them.
    pub fn places(&self, position: u64, bytes: usize, each: &mut dyn FnMut(u64, usize) -> bool) {
        let layout = &self.filetype.layout;
        if layout.is_contiguous() {
            if bytes > 0 && layout.size() > 0 {
                each(self.displacement + position, bytes);
            }
            return;
        }
        let place = |run: Run| (self.displacement.wrapping_add_signed(run.offset as i64), run.bytes);
        layout.runs_from(position as usize, bytes, &mut |run| {
            let (offset, bytes) = place(run);
            each(offset, bytes)
        });
    }

    /// The place in the file of the byte at a position. Without data in the view, its beginning.
    pub fn place(&self, position: u64) -> u64 {
        let mut found = self.displacement;
        self.places(position, 1, &mut |offset, _| {
            found = offset;
            false
        });
        found
    }

    /// How many bytes of the view lie within the first `size` bytes of the file.
    pub fn bytes_within(&self, size: u64) -> u64 {
        let layout = &self.filetype.layout;
        let Some(seen) = size.checked_sub(self.displacement).filter(|_| layout.size() > 0) else { return 0 };
        if layout.is_contiguous() {
            return seen;
        }
        let extent = layout.extent() as u64;
        let (turns, rest) = (seen / extent, seen % extent);
        // A type may reach beyond its extent, over the next ones: then the bytes of earlier turns are counted in their turn.
        let reach = (layout.true_lb() as i64 + layout.true_extent() as i64).max(0) as u64;
        let overhang = reach.div_ceil(extent).max(1) - 1;
        let whole = turns.saturating_sub(overhang);
        let last = (whole..=turns).map(|turn| layout.bytes_below((rest + (turns - turn) * extent) as isize) as u64);
        whole * layout.size() as u64 + last.sum::<u64>()
    }
}

/// Whether the pieces of a filetype are whole etypes (MPI 5.0 §14.1.1), as far as their lengths show it.
fn is_made_of(filetype: &Layout, etype: &Layout) -> bool {
    let mut whole = true;
    if etype.is_contiguous() {
        filetype.each_run(&mut |run| whole &= run.bytes.is_multiple_of(etype.size()));
    }
    whole
}

/// How the runs of a layout follow each other.
enum Order {
    Sorted,
    Overlapping,
    Negative,
    Backwards,
}

fn order(layout: &Layout) -> Order {
    if layout.is_contiguous() {
        return Order::Sorted;
    }
    let (mut from, mut end, mut order) = (isize::MIN, isize::MIN, Order::Sorted);
    layout.each_run(&mut |run| {
        match &order {
            Order::Sorted | Order::Overlapping if run.offset < 0 => order = Order::Negative,
            Order::Sorted | Order::Overlapping if run.offset < from => order = Order::Backwards,
            Order::Sorted if run.offset < end => order = Order::Overlapping,
            _ => {}
        }
        (from, end) = (run.offset, run.offset.saturating_add_unsigned(run.bytes).max(end));
    });
    order
}
