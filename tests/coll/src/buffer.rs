//! Buffers of `int`s in shapes whose type maps are known here a second time.

use ompi_core::data::Data;
use ompi_core::datatype::{self, Datatype};
use opal_core::datatype::Layout;

/// A datatype made of `int`s and, independent of the engine, where they lie.
pub struct Shape {
    /// For messages of test failures.
    pub name: &'static str,
    /// The type.
    pub datatype: Datatype,
    offsets: Vec<isize>,
    extent: isize,
}

impl Shape {
    /// MPI_INT itself, as a derived type of one.
    pub fn int() -> Shape {
        Shape::new("int", Layout::contiguous(1, &int().layout).unwrap(), vec![0], 4)
    }

    /// Two `int`s with a gap, then a gap: a vector of 2 blocks of 1, stride 3.
    pub fn vector() -> Shape {
        Shape::new("vector", Layout::hvector(2, 1, 12, &int().layout).unwrap(), vec![0, 12], 16)
    }

    /// Two blocks in reverse order, the second one before the address: the lower bound is negative.
    pub fn backwards() -> Shape {
        Shape::new("backwards", Layout::blocks(&[(8, 1), (-8, 1)], &int().layout).unwrap(), vec![8, -8], 20)
    }

    /// Two neighbours.
    pub fn pair() -> Shape {
        Shape::new("pair", Layout::contiguous(2, &int().layout).unwrap(), vec![0, 4], 8)
    }

    fn new(name: &'static str, layout: Layout, offsets: Vec<isize>, extent: isize) -> Shape {
        assert_eq!(layout.extent(), extent, "{name}");
        let datatype = Datatype::derived(layout, datatype::COMBINER_CONTIGUOUS);
        datatype.commit();
        Shape { name, datatype, offsets, extent }
    }

    /// `int`s per element.
    pub fn ints(&self) -> usize {
        self.offsets.len()
    }
}

fn int() -> &'static Datatype {
    datatype::open();
    datatype::borrow(521).unwrap()
}

/// Memory for some elements with room around, all of it watched.
pub struct Buffer<'a> {
    bytes: Vec<u8>,
    shape: &'a Shape,
    count: usize,
}

const MARGIN: isize = 64;
const FILL: u8 = 0xa5;

impl<'a> Buffer<'a> {
    /// Room for `count` elements, which hold a pattern.
    pub fn new(shape: &'a Shape, count: usize) -> Buffer<'a> {
        Buffer { bytes: vec![FILL; 2 * MARGIN as usize + count * shape.extent as usize], shape, count }
    }

    /// Elements with these values.
    pub fn of(shape: &'a Shape, values: &[i32]) -> Buffer<'a> {
        let mut buffer = Buffer::new(shape, values.len() / shape.ints());
        buffer.set(0, values);
        buffer
    }

    /// Writes values from an element on.
    pub fn set(&mut self, element: usize, values: &[i32]) {
        for (index, value) in values.iter().enumerate() {
            let at = self.place(element * self.shape.ints() + index);
            self.bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
    }

    /// As MPI sees it.
    pub fn data(&mut self) -> Data<'a> {
        let at = self.bytes.as_mut_ptr().wrapping_offset(MARGIN);
        Data { at, count: self.count, datatype: &self.shape.datatype }
    }

    /// As MPI sees it, with another count.
    pub fn part(&mut self, count: usize) -> Data<'a> {
        Data { count, ..self.data() }
    }

    /// What is wrong if it should hold these values from its start, and the pattern elsewhere.
    pub fn differs(&self, values: &[i32]) -> Option<String> {
        self.differs_in(&[(0, values)])
    }

    /// As `differs`, for values from several elements on.
    pub fn differs_in(&self, parts: &[(usize, &[i32])]) -> Option<String> {
        let mut wanted = Buffer::new(self.shape, self.count);
        for (element, values) in parts {
            wanted.set(*element, values);
        }
        if wanted.bytes == self.bytes {
            return None;
        }
        let at = (0..self.bytes.len()).find(|at| self.bytes[*at] != wanted.bytes[*at])?;
        Some(format!(
            "byte {} of {}: {:#x}, not {:#x}",
            at as isize - MARGIN,
            self.shape.name,
            self.bytes[at],
            wanted.bytes[at]
        ))
    }

    /// All of it, with the room around.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn place(&self, index: usize) -> usize {
        let (element, which) = (index / self.shape.ints(), index % self.shape.ints());
        (MARGIN + element as isize * self.shape.extent + self.shape.offsets[which]) as usize
    }
}
