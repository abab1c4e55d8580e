//! A dimension of an array as the compiler describes it.

/// CFI_dim_t.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Dimension {
    lower_bound: isize,
    /// Elements; -1 for the last one of an assumed-size array.
    pub extent: isize,
    /// Bytes from an element to the next one.
    pub stride: isize,
}

impl Dimension {
    /// Of no array.
    pub const NONE: Dimension = Dimension { lower_bound: 0, extent: 0, stride: 0 };
}
