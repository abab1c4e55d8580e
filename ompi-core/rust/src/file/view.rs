//! Values of a file.

use super::object::File;
use super::pattern::{Every, Seek};
use crate::datatype::Equivalence;
use crate::error::Result;
use crate::raw::FileCalls;
use core::marker::PhantomData;
use ompi_core::file::FileCall;
use ompi_core::framework::io::{NewView, Start};

impl File {
    /// Shows values of a type from byte `displacement` on; called by all processes, which may see different parts. All file pointers are
    /// at its beginning.
    pub fn view<T: Equivalence>(&mut self, displacement: u64, every: Every) -> Result<FileView<'_, T>> {
        let view = every.of::<T>(displacement).map(|view| NewView { view, at_shared: false, info: None });
        self.set_view(view)?;
        Ok(FileView { file: self, values: PhantomData })
    }
}

/// What a process sees of a [`File`]: values of one type. Offsets count them.
///
/// Reads return how many whole values there were; fewer than asked for mean the end of the file. Calls whose names end with `_all` or
/// `_ordered` are made by all processes together.
#[derive(Debug)]
pub struct FileView<'f, T> {
    file: &'f File,
    values: PhantomData<T>,
}

impl<T: Equivalence> FileView<'_, T> {
    /// Reads at an offset.
    pub fn read_at(&self, offset: u64, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read_at", FileCalls::Alone, at(offset), values)
    }

    /// Writes at an offset.
    pub fn write_at(&self, offset: u64, values: &[T]) -> Result<()> {
        self.file.write("FileView::write_at", FileCalls::Alone, at(offset), values)
    }

    /// Reads at an offset, all processes together.
    pub fn read_at_all(&self, offset: u64, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read_at_all", FileCalls::All(FileCall::ReadAtAll), at(offset), values)
    }

    /// Writes at an offset, all processes together.
    pub fn write_at_all(&self, offset: u64, values: &[T]) -> Result<()> {
        self.file.write("FileView::write_at_all", FileCalls::All(FileCall::WriteAtAll), at(offset), values)
    }

    /// Reads at this process's file pointer, which moves on by as many values.
    pub fn read(&self, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read", FileCalls::Alone, Start::Pointer, values)
    }

    /// Writes there.
    pub fn write(&self, values: &[T]) -> Result<()> {
        self.file.write("FileView::write", FileCalls::Alone, Start::Pointer, values)
    }

    /// Reads there, all processes together.
    pub fn read_all(&self, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read_all", FileCalls::All(FileCall::ReadAll), Start::Pointer, values)
    }

    /// Writes there, all processes together.
    pub fn write_all(&self, values: &[T]) -> Result<()> {
        self.file.write("FileView::write_all", FileCalls::All(FileCall::WriteAll), Start::Pointer, values)
    }

    /// Moves this process's file pointer.
    pub fn seek(&self, to: Seek) -> Result<()> {
        self.file.seek(to)
    }

    /// Where it is, in values.
    pub fn position(&self) -> Result<u64> {
        self.file.position()
    }

    /// Reads at the file pointer that all processes share, which moves on by as many values.
    pub fn read_shared(&self, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read_shared", FileCalls::Alone, Start::Shared, values)
    }

    /// Writes there.
    pub fn write_shared(&self, values: &[T]) -> Result<()> {
        self.file.write("FileView::write_shared", FileCalls::Alone, Start::Shared, values)
    }

    /// Reads there, all processes together, one behind the other in the order of their ranks.
    pub fn read_ordered(&self, values: &mut [T]) -> Result<usize> {
        self.file.read("FileView::read_ordered", FileCalls::All(FileCall::ReadOrdered), Start::Ordered, values)
    }

    /// Writes there, all processes together, one behind the other in the order of their ranks.
    pub fn write_ordered(&self, values: &[T]) -> Result<()> {
        self.file.write("FileView::write_ordered", FileCalls::All(FileCall::WriteOrdered), Start::Ordered, values)
    }
}

/// The library refuses what is beyond every file.
fn at(offset: u64) -> Start {
    Start::At(i64::try_from(offset).unwrap_or(i64::MAX))
}
