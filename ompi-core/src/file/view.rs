//! Views: which bytes of a file a process sees, in which order. MPI 5.0 §14.3.
//!
//! A view is a displacement and a datatype that is laid end to end from there on. The bytes that it shows are counted
//! from 0; a *position* here is such a count. Nothing is listed: the datatype engine finds the place of any position.
//!
//! Etype and filetype are laid out as they lie in the file (MPI 5.0 §14.5.1). A representation of the program's own is asked for that
//! by the first call that needs to know (§14.5.3): until then the view is not *placed*.

use super::representation::Representation;
use crate::datatype::{self, Datatype};
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use alloc::sync::Arc;
use core::ops::Range;
use opal_core::datatype::{Layout, Run};

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
    /// An etype as it lies in the file.
    pub unit: Arc<Layout>,
    /// The filetype as it lies there.
    pub pattern: Arc<Layout>,
    // Whether these two are those of the file, not yet those of memory.
    placed: bool,
    // Whether parts of the filetype overlap.
    overlaps: bool,
}

impl View {
    /// Of these arguments, to be [`checked`](View::check).
    pub fn new(
        displacement: u64,
        etype: Arc<Datatype>,
        filetype: Arc<Datatype>,
        representation: Representation,
    ) -> View {
        let (unit, pattern) = (etype.layout.clone(), filetype.layout.clone());
        let placed = representation.keeps_all();
        View { displacement, etype, filetype, representation, unit, pattern, placed, overlaps: false }
    }

    /// All bytes of the file: the view after MPI_File_open.
    ///
    /// # Panics
    /// Before MPI is initialised.
    pub fn whole() -> View {
        let byte = datatype::get(datatype::BYTE).expect("predefined datatypes are made before anything uses them");
        View::new(0, byte.clone(), byte, Representation::Native)
    }

    /// Checks what the standard asks of a view; `writes` if the file may be written. Asks no function of the program's.
    pub fn check(&mut self, writes: bool) -> Result<()> {
        if !self.representation.asks() && !self.placed {
            return self.place_all(writes);
        }
        self.check_layouts(writes)
    }

    /// Whether it is known where its bytes lie.
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// The same, with its places known: asks the program's functions. No lock is held.
    pub fn placed(&self, writes: bool) -> Result<View> {
        let mut placed = self.clone();
        placed.place_all(writes)?;
        Ok(placed)
    }

    /// The same for accesses without conversion: with places as in memory. `None` if accesses this way are converted, or if it is
    /// such a view.
    pub fn unconverted(&self, direction: AccessKind) -> Option<View> {
        if self.representation.keeps_all() || !self.representation.keeps(direction) {
            return None;
        }
        let (unit, pattern) = (self.etype.layout.clone(), self.filetype.layout.clone());
        Some(View { unit, pattern, placed: true, representation: Representation::Native, ..self.clone() })
    }

    fn place_all(&mut self, writes: bool) -> Result<()> {
        self.unit = self.representation.layout(&self.etype).map_err(|fault| fault.renamed("datatype", "etype"))?;
        self.pattern = match Arc::ptr_eq(&self.etype, &self.filetype) {
            true => self.unit.clone(),
            false => {
                self.representation.layout(&self.filetype).map_err(|fault| fault.renamed("datatype", "filetype"))?
            }
        };
        self.placed = true;
        self.check_layouts(writes)
    }

    fn check_layouts(&mut self, writes: bool) -> Result<()> {
        let wrong = |argument, why: &str| Err(Fault::new(Class::Arg).argument(argument).because(why));
        let (etype, filetype) = (&self.unit, &self.pattern);
        self.overlaps = false;
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

    /// Whether all bytes from its beginning on are seen, in their order.
    pub fn is_whole(&self) -> bool {
        self.pattern.is_contiguous() && self.pattern.size() > 0
    }

    /// Whether each turn of the filetype is one run, which lies apart from the next one unless the view is [whole](View::is_whole).
    pub fn is_regular(&self) -> bool {
        let layout = &self.pattern;
        layout.size() > 0 && (self.is_whole() || layout.run_of(1).is_some() && layout.extent() > layout.size() as isize)
    }

    /// Whether each place up to a position lies behind the one before: no parts of the filetype overlap, and none of its turns.
    pub fn grows(&self, position: u64) -> bool {
        let layout = &self.pattern;
        let one_turn = position <= layout.size() as u64;
        let apart = layout.true_lb() as i64 + layout.true_extent() as i64 <= layout.extent() as i64;
        layout.is_contiguous() || !self.overlaps && (one_turn || apart)
    }

    /// Bytes of an etype.
    pub fn unit_bytes(&self) -> u64 {
        self.unit.size() as u64
    }

    /// Checks that all bytes up to a position lie where a file can have some.
    pub fn check_reach(&self, position: u64) -> Result<()> {
        let (size, extent) = (self.pattern.size() as u64, self.pattern.extent() as u64);
        let turns = position.checked_div(size).unwrap_or(0);
        let end = turns.checked_add(1).and_then(|turns| turns.checked_mul(extent));
        let span = self.pattern.true_lb().unsigned_abs() as u64 + self.pattern.true_extent() as u64;
        let end = end.and_then(|end| end.checked_add(span)?.checked_add(self.displacement));
        match end.is_some_and(|end| i64::try_from(end).is_ok()) {
            true => Ok(()),
            false => Err(Fault::new(Class::Arg).argument("offset").because("no file is as long as that")),
        }
    }

    /// Calls back with the places in the file of `bytes` bytes from a position on, each with its length, until `each` has
    /// enough. [`View::check_reach`] was asked about the last of them.
    pub fn places(&self, position: u64, bytes: usize, each: &mut dyn FnMut(u64, usize) -> bool) {
        let layout = &self.pattern;
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

    /// From the first to the last byte in the file of `bytes` bytes from a position on, one at least. Where turns of the filetype reach over
    /// each other these need not be the bytes that are moved first and last.
    pub fn span(&self, position: u64, bytes: usize) -> Range<u64> {
        let end = position + bytes as u64;
        if self.grows(end) {
            return self.place(position)..self.place(end - 1) + 1;
        }
        let first = self.place(position);
        let mut span = first..first + 1;
        self.places(position, bytes, &mut |offset, bytes| {
            span = span.start.min(offset)..span.end.max(offset + bytes as u64);
            true
        });
        span
    }

    /// The first etype of the view that begins at or behind so many bytes of the file (MPI 5.0 §14.1.1, end of file), which are its length.
    pub fn first_behind(&self, size: u64) -> u64 {
        let layout = &self.pattern;
        if self.grows(u64::MAX) || layout.size() == 0 {
            return self.bytes_within(size).div_ceil(self.unit_bytes());
        }
        // Turns reach over each other: of each run the first turn in which an etype of it begins there, and the least of all.
        let unit = if self.unit.is_contiguous() { self.unit.size() } else { 1 };
        let (extent, size) = (layout.extent() as u64, size as i64);
        let (mut before, mut least) = (0, u64::MAX);
        layout.each_run(&mut |run| {
            let first = self.displacement as i64 + run.offset as i64;
            let last = first + run.bytes.saturating_sub(unit) as i64;
            let turn = ((size - last).max(0) as u64).div_ceil(extent);
            let within = (size - first - (turn * extent) as i64).max(0) as u64;
            let within = within.next_multiple_of(unit as u64);
            least = least.min(turn * layout.size() as u64 + before + within);
            before += run.bytes as u64;
        });
        least.div_ceil(self.unit_bytes())
    }

    /// How many bytes of the view lie within the first `size` bytes of the file.
    pub fn bytes_within(&self, size: u64) -> u64 {
        let layout = &self.pattern;
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
