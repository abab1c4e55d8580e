//! Arrays of counts and displacements in either of the C interface's widths.

/// An array of counts or displacements, in either of the C interface's widths.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// `int`.
    Int(&'a [i32]),
    /// `MPI_Count` or `MPI_Aint`.
    Large(&'a [i64]),
}

impl Counts<'_> {
    /// Element `index`; the C layer has checked that counts are not negative.
    #[inline]
    pub fn get(&self, index: usize) -> isize {
        match self {
            Counts::Int(all) => all[index] as isize,
            Counts::Large(all) => all[index] as isize,
        }
    }

    /// Element `index` as a count.
    #[inline]
    pub fn count(&self, index: usize) -> usize {
        self.get(index) as usize
    }
}
