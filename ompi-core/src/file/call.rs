//! The calls that all processes of a file make together. Each names itself to the others, so that two different ones are noticed.

use core::fmt::{self, Write};

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// A collective function of MPI-IO.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FileCall {
            $($(#[$doc])* $name,)*
        }

        impl FileCall {
            const ALL: &[FileCall] = &[$(FileCall::$name),*];

            /// As the standard spells it, without MPI_.
            const fn spelled(self) -> &'static str {
                match self { $(FileCall::$name => stringify!($name),)* }
            }
        }
    };
}

calls! {
    /// MPI_File_open.
    Open;
    /// MPI_File_close.
    Close;
    /// MPI_File_set_size.
    SetSize;
    /// MPI_File_preallocate.
    Preallocate;
    /// MPI_File_set_info.
    SetInfo;
    /// MPI_File_set_view.
    SetView;
    /// MPI_File_set_atomicity.
    SetAtomicity;
    /// MPI_File_sync.
    Sync;
    /// MPI_File_seek_shared.
    SeekShared;
    /// MPI_File_read_at_all.
    ReadAtAll;
    /// MPI_File_write_at_all.
    WriteAtAll;
    /// MPI_File_read_all.
    ReadAll;
    /// MPI_File_write_all.
    WriteAll;
    /// MPI_File_read_ordered.
    ReadOrdered;
    /// MPI_File_write_ordered.
    WriteOrdered;
    /// MPI_File_read_at_all_begin.
    ReadAtAllBegin;
    /// MPI_File_write_at_all_begin.
    WriteAtAllBegin;
    /// MPI_File_read_all_begin.
    ReadAllBegin;
    /// MPI_File_write_all_begin.
    WriteAllBegin;
    /// MPI_File_read_ordered_begin.
    ReadOrderedBegin;
    /// MPI_File_write_ordered_begin.
    WriteOrderedBegin;
}

impl FileCall {
    /// As a number that is not 0.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Whether the calls of two processes belong together: the same one. An access at a given offset also meets one at the file
    /// pointer, as PnetCDF calls them; each process then finds its own place by itself.
    pub fn meets(self, other: u32) -> bool {
        let access = match self {
            FileCall::ReadAtAll | FileCall::ReadAll => [FileCall::ReadAtAll, FileCall::ReadAll],
            FileCall::WriteAtAll | FileCall::WriteAll => [FileCall::WriteAtAll, FileCall::WriteAll],
            call => [call, call],
        };
        access.iter().any(|call| call.number() == other)
    }

    /// By its number.
    pub fn numbered(number: u32) -> Option<FileCall> {
        FileCall::ALL.get((number as usize).checked_sub(1)?).copied()
    }
}

impl fmt::Display for FileCall {
    /// The name as the standard spells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MPI_File")?;
        for character in self.spelled().chars() {
            if character.is_ascii_uppercase() {
                f.write_char('_')?;
            }
            f.write_char(character.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_to_the_call() {
        for call in FileCall::ALL {
            assert_eq!(FileCall::numbered(call.number()), Some(*call));
        }
        assert_eq!(alloc::format!("{}", FileCall::WriteAtAllBegin), "MPI_File_write_at_all_begin");
        assert_eq!((FileCall::numbered(0), FileCall::numbered(99)), (None, None));
    }

    #[test]
    fn accesses_at_an_offset_and_at_the_pointer_meet() {
        assert!(FileCall::WriteAll.meets(FileCall::WriteAtAll.number()));
        assert!(FileCall::ReadAtAll.meets(FileCall::ReadAll.number()));
        assert!(FileCall::ReadOrdered.meets(FileCall::ReadOrdered.number()));
        assert!(!FileCall::ReadAll.meets(FileCall::WriteAll.number()));
        assert!(!FileCall::ReadAll.meets(FileCall::ReadOrdered.number()));
        assert!(!FileCall::ReadAllBegin.meets(FileCall::ReadAtAllBegin.number()));
    }
}
