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

    /// The same for calls that go together. An offset and a file pointer are each process's own: what the standard calls two functions,
    /// programs mix (PnetCDF where one process has nothing to move), and MPI libraries do it.
    pub fn alike(self) -> FileCall {
        match self {
            FileCall::ReadAtAll => FileCall::ReadAll,
            FileCall::WriteAtAll => FileCall::WriteAll,
            FileCall::ReadAtAllBegin => FileCall::ReadAllBegin,
            FileCall::WriteAtAllBegin => FileCall::WriteAllBegin,
            other => other,
        }
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
}
