//! The predefined datatypes and the values of their handles in the standard ABI.

use super::combiner::COMBINER_NAMED;
use super::object::{Contents, Datatype};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::datatype::{Layout, Primitive, Run, Scalar};
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock};

/// All of them, indexed by handle - 0x200.
pub struct Set(Box<[Option<Arc<Datatype>>]>);

impl Set {
    /// Builds the table.
    pub fn new() -> Set {
        let mut slots: Vec<Option<Arc<Datatype>>> = (0..0x200).map(|_| None).collect();
        for row in ROWS {
            let layout = Arc::new(row.layout());
            slots[row.handle as usize - 0x200] = Some(Arc::new(Datatype {
                layout,
                combiner: COMBINER_NAMED,
                predefined: row.handle,
                own_name: row.name,
                given_name: ConditionalLock::new(None),
                handle: AtomicUsize::new(row.handle as usize),
                contents: Contents::default(),
                committed: AtomicBool::new(true),
            }));
        }
        Set(slots.into_boxed_slice())
    }

    /// The datatype with handle 0x200 + `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&Arc<Datatype>> {
        self.0.get(index)?.as_ref()
    }
}

struct Row {
    handle: u32,
    name: &'static str,
    scalar: Scalar,
    bytes: u8,
}

impl Row {
    fn layout(&self) -> Layout {
        let primitive = Primitive::new(self.scalar, self.bytes);
        let value = self.bytes as usize;
        let index = match self.scalar {
            Scalar::FloatInt | Scalar::SignedInt => 4usize,
            _ => 0,
        };
        let narrow = NARROW.iter().find(|(handle, _)| *handle == self.handle).map(|(_, bytes)| *bytes);
        if index == 0 {
            return Layout::narrowed(primitive, &[Run { offset: 0, bytes: value }], value, primitive.align(), narrow);
        }
        // A C struct { value; int; }: the index follows the value, the end is padded to the larger alignment.
        let align = value.max(4);
        let end = value.next_multiple_of(4) + 4;
        let runs = [Run { offset: 0, bytes: value }, Run { offset: value.next_multiple_of(4) as isize, bytes: 4 }];
        match value.is_multiple_of(4) {
            true => Layout::narrowed(
                primitive,
                &[Run { offset: 0, bytes: end }],
                end.next_multiple_of(align),
                align,
                narrow,
            ),
            false => Layout::basic(primitive, &runs, end.next_multiple_of(align), align),
        }
    }
}

/// What has fewer bytes in external32 than here (MPI 5.0 §14.5.2, the table of lengths): MPI_LONG, MPI_UNSIGNED_LONG and
/// MPI_WCHAR, and the value of MPI_LONG_INT.
const NARROW: &[(u32, u8)] = &[(522, 4), (526, 4), (554, 4), (572, 2)];

macro_rules! rows {
    ($($handle:literal $name:ident $scalar:ident $bytes:literal;)*) => {
        const ROWS: &[Row] = &[$(Row { handle: $handle, name: stringify!($name), scalar: Scalar::$scalar, bytes: $bytes },)*];
    };
}

// Sizes are those of the x86-64 System V ABI; Fortran's are gfortran's defaults.
rows! {
    513 MPI_AINT Signed 8;
    514 MPI_COUNT Signed 8;
    515 MPI_OFFSET Signed 8;
    519 MPI_PACKED Byte 1;
    520 MPI_SHORT Signed 2;
    521 MPI_INT Signed 4;
    522 MPI_LONG Signed 8;
    523 MPI_LONG_LONG Signed 8;
    524 MPI_UNSIGNED_SHORT Unsigned 2;
    525 MPI_UNSIGNED Unsigned 4;
    526 MPI_UNSIGNED_LONG Unsigned 8;
    527 MPI_UNSIGNED_LONG_LONG Unsigned 8;
    528 MPI_FLOAT Float 4;
    530 MPI_C_FLOAT_COMPLEX Complex 8;
    531 MPI_CXX_FLOAT_COMPLEX Complex 8;
    532 MPI_DOUBLE Float 8;
    534 MPI_C_DOUBLE_COMPLEX Complex 16;
    535 MPI_CXX_DOUBLE_COMPLEX Complex 16;
    536 MPI_LOGICAL Logical 4;
    537 MPI_INTEGER Signed 4;
    538 MPI_REAL Float 4;
    539 MPI_COMPLEX Complex 8;
    540 MPI_DOUBLE_PRECISION Float 8;
    541 MPI_DOUBLE_COMPLEX Complex 16;
    542 MPI_CHARACTER Character 1;
    544 MPI_LONG_DOUBLE Float 16;
    548 MPI_C_LONG_DOUBLE_COMPLEX Complex 32;
    549 MPI_CXX_LONG_DOUBLE_COMPLEX Complex 32;
    552 MPI_FLOAT_INT FloatInt 4;
    553 MPI_DOUBLE_INT FloatInt 8;
    554 MPI_LONG_INT SignedInt 8;
    555 MPI_2INT SignedInt 4;
    556 MPI_SHORT_INT SignedInt 2;
    557 MPI_LONG_DOUBLE_INT FloatInt 16;
    560 MPI_2REAL FloatPair 8;
    561 MPI_2DOUBLE_PRECISION FloatPair 16;
    562 MPI_2INTEGER SignedInt 4;
    568 MPI_C_BOOL Logical 1;
    569 MPI_CXX_BOOL Logical 1;
    572 MPI_WCHAR Character 4;
    576 MPI_INT8_T Signed 1;
    577 MPI_UINT8_T Unsigned 1;
    579 MPI_CHAR Character 1;
    580 MPI_SIGNED_CHAR Signed 1;
    581 MPI_UNSIGNED_CHAR Unsigned 1;
    583 MPI_BYTE Byte 1;
    584 MPI_INT16_T Signed 2;
    585 MPI_UINT16_T Unsigned 2;
    592 MPI_INT32_T Signed 4;
    593 MPI_UINT32_T Unsigned 4;
    600 MPI_INT64_T Signed 8;
    601 MPI_UINT64_T Unsigned 8;
    704 MPI_LOGICAL1 Logical 1;
    705 MPI_INTEGER1 Signed 1;
    712 MPI_LOGICAL2 Logical 2;
    713 MPI_INTEGER2 Signed 2;
    714 MPI_REAL2 Float 2;
    720 MPI_LOGICAL4 Logical 4;
    721 MPI_INTEGER4 Signed 4;
    722 MPI_REAL4 Float 4;
    723 MPI_COMPLEX4 Complex 4;
    728 MPI_LOGICAL8 Logical 8;
    729 MPI_INTEGER8 Signed 8;
    730 MPI_REAL8 Float 8;
    731 MPI_COMPLEX8 Complex 8;
    736 MPI_LOGICAL16 Logical 16;
    737 MPI_INTEGER16 Signed 16;
    738 MPI_REAL16 Quad 16;
    739 MPI_COMPLEX16 Complex 16;
    747 MPI_COMPLEX32 QuadComplex 32;
}
