//! Error classes and what goes with them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// The result of every operation of this layer.
pub type Result<T, E = Fault> = core::result::Result<T, E>;

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal, $symbol:literal;)*) => {
        /// The error classes of MPI 5.0 §9.4 with the standard ABI's numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum Class {
            $($(#[doc = $doc])+ $name = $value,)*
        }

        impl Class {
            /// All classes in order.
            pub const ALL: &[Class] = &[$(Class::$name),*];

            /// As the standard spells it.
            pub const fn symbol(self) -> &'static str {
                match self { $(Class::$name => $symbol,)* }
            }

            /// What `MPI_Error_string` says after the symbol.
            pub const fn text(self) -> &'static str {
                match self { $(Class::$name => concat!($($doc),+),)* }
            }
        }
    };
}

classes! {
    /// invalid buffer pointer
    Buffer = 1, "MPI_ERR_BUFFER";
    /// invalid count argument
    Count = 2, "MPI_ERR_COUNT";
    /// invalid datatype argument
    Type = 3, "MPI_ERR_TYPE";
    /// invalid tag argument
    Tag = 4, "MPI_ERR_TAG";
    /// invalid communicator
    Comm = 5, "MPI_ERR_COMM";
    /// invalid rank
    Rank = 6, "MPI_ERR_RANK";
    /// invalid request handle
    Request = 7, "MPI_ERR_REQUEST";
    /// invalid root
    Root = 8, "MPI_ERR_ROOT";
    /// invalid group
    Group = 9, "MPI_ERR_GROUP";
    /// invalid operation
    Op = 10, "MPI_ERR_OP";
    /// invalid topology
    Topology = 11, "MPI_ERR_TOPOLOGY";
    /// invalid dimension argument
    Dims = 12, "MPI_ERR_DIMS";
    /// invalid argument of some other kind
    Arg = 13, "MPI_ERR_ARG";
    /// unknown error
    Unknown = 14, "MPI_ERR_UNKNOWN";
    /// message truncated on receive
    Truncate = 15, "MPI_ERR_TRUNCATE";
    /// known error not in this list
    Other = 16, "MPI_ERR_OTHER";
    /// internal error of the library
    Intern = 17, "MPI_ERR_INTERN";
    /// pending request
    Pending = 18, "MPI_ERR_PENDING";
    /// the error code is in the status
    InStatus = 19, "MPI_ERR_IN_STATUS";
    /// permission denied
    Access = 20, "MPI_ERR_ACCESS";
    /// invalid access mode
    Amode = 21, "MPI_ERR_AMODE";
    /// invalid assertion
    Assert = 22, "MPI_ERR_ASSERT";
    /// invalid file name
    BadFile = 23, "MPI_ERR_BAD_FILE";
    /// invalid base address
    Base = 24, "MPI_ERR_BASE";
    /// error in a user-defined data conversion function
    Conversion = 25, "MPI_ERR_CONVERSION";
    /// invalid displacement
    Disp = 26, "MPI_ERR_DISP";
    /// data representation is already defined
    DupDatarep = 27, "MPI_ERR_DUP_DATAREP";
    /// file exists
    FileExists = 28, "MPI_ERR_FILE_EXISTS";
    /// file is in use
    FileInUse = 29, "MPI_ERR_FILE_IN_USE";
    /// invalid file handle
    File = 30, "MPI_ERR_FILE";
    /// info key is too long or empty
    InfoKey = 31, "MPI_ERR_INFO_KEY";
    /// no such info key
    InfoNokey = 32, "MPI_ERR_INFO_NOKEY";
    /// info value is too long, or not one that its key takes
    InfoValue = 33, "MPI_ERR_INFO_VALUE";
    /// invalid info object
    Info = 34, "MPI_ERR_INFO";
    /// input or output failed
    Io = 35, "MPI_ERR_IO";
    /// invalid attribute key
    Keyval = 36, "MPI_ERR_KEYVAL";
    /// invalid lock type
    Locktype = 37, "MPI_ERR_LOCKTYPE";
    /// invalid service name
    Name = 38, "MPI_ERR_NAME";
    /// memory is exhausted
    NoMem = 39, "MPI_ERR_NO_MEM";
    /// collective argument is not the same on all processes
    NotSame = 40, "MPI_ERR_NOT_SAME";
    /// not enough space on the device
    NoSpace = 41, "MPI_ERR_NO_SPACE";
    /// file does not exist
    NoSuchFile = 42, "MPI_ERR_NO_SUCH_FILE";
    /// invalid port name
    Port = 43, "MPI_ERR_PORT";
    /// quota is exceeded
    Quota = 44, "MPI_ERR_QUOTA";
    /// file or file system is read-only
    ReadOnly = 45, "MPI_ERR_READ_ONLY";
    /// memory cannot be attached
    RmaAttach = 46, "MPI_ERR_RMA_ATTACH";
    /// conflicting accesses to a window
    RmaConflict = 47, "MPI_ERR_RMA_CONFLICT";
    /// target memory is not part of the window
    RmaRange = 48, "MPI_ERR_RMA_RANGE";
    /// memory cannot be shared
    RmaShared = 49, "MPI_ERR_RMA_SHARED";
    /// wrong synchronisation of accesses to a window
    RmaSync = 50, "MPI_ERR_RMA_SYNC";
    /// service name is not published, or is published already
    Service = 51, "MPI_ERR_SERVICE";
    /// invalid size
    Size = 52, "MPI_ERR_SIZE";
    /// processes could not be spawned
    Spawn = 53, "MPI_ERR_SPAWN";
    /// data representation is not supported
    UnsupportedDatarep = 54, "MPI_ERR_UNSUPPORTED_DATAREP";
    /// operation is not supported
    UnsupportedOperation = 55, "MPI_ERR_UNSUPPORTED_OPERATION";
    /// invalid window
    Win = 56, "MPI_ERR_WIN";
    /// wrong flavor of window
    RmaFlavor = 57, "MPI_ERR_RMA_FLAVOR";
    /// a peer process has aborted
    ProcAborted = 58, "MPI_ERR_PROC_ABORTED";
    /// value does not fit its type
    ValueTooLarge = 59, "MPI_ERR_VALUE_TOO_LARGE";
    /// invalid session
    Session = 60, "MPI_ERR_SESSION";
    /// invalid error handler
    Errhandler = 61, "MPI_ERR_ERRHANDLER";
    /// error of the application binary interface
    Abi = 62, "MPI_ERR_ABI";
    /// the tool interface cannot be initialized
    ToolCannotInit = 1001, "MPI_T_ERR_CANNOT_INIT";
    /// the tool interface cannot be used here
    ToolNotAccessible = 1002, "MPI_T_ERR_NOT_ACCESSIBLE";
    /// the tool interface is not initialized
    ToolNotInitialized = 1003, "MPI_T_ERR_NOT_INITIALIZED";
    /// the tool interface does not offer it
    ToolNotSupported = 1004, "MPI_T_ERR_NOT_SUPPORTED";
    /// no memory is left for the tool interface
    ToolMemory = 1005, "MPI_T_ERR_MEMORY";
    /// wrong use of the tool interface or a wrong argument
    ToolInvalid = 1006, "MPI_T_ERR_INVALID";
    /// the index is out of range
    ToolInvalidIndex = 1007, "MPI_T_ERR_INVALID_INDEX";
    /// the index of the item is out of range
    ToolInvalidItem = 1008, "MPI_T_ERR_INVALID_ITEM";
    /// the session is none in force
    ToolInvalidSession = 1009, "MPI_T_ERR_INVALID_SESSION";
    /// the handle is none in force
    ToolInvalidHandle = 1010, "MPI_T_ERR_INVALID_HANDLE";
    /// nothing has this name
    ToolInvalidName = 1011, "MPI_T_ERR_INVALID_NAME";
    /// no more handles
    ToolOutOfHandles = 1012, "MPI_T_ERR_OUT_OF_HANDLES";
    /// no more sessions
    ToolOutOfSessions = 1013, "MPI_T_ERR_OUT_OF_SESSIONS";
    /// the control variable cannot be set any more, or not yet
    ToolCvarSetNotNow = 1014, "MPI_T_ERR_CVAR_SET_NOT_NOW";
    /// the control variable can never be set
    ToolCvarSetNever = 1015, "MPI_T_ERR_CVAR_SET_NEVER";
    /// the performance variable cannot be written or reset
    ToolPvarNoWrite = 1016, "MPI_T_ERR_PVAR_NO_WRITE";
    /// the performance variable cannot be started or stopped
    ToolPvarNoStartstop = 1017, "MPI_T_ERR_PVAR_NO_STARTSTOP";
    /// the performance variable cannot be read and reset in one step
    ToolPvarNoAtomic = 1018, "MPI_T_ERR_PVAR_NO_ATOMIC";
}

/// What went wrong: a class, the argument it concerns, and a reason for people. Cold, so it may allocate.
#[derive(Clone, Debug)]
pub struct Fault(Box<Details>);

#[derive(Clone, Debug)]
struct Details {
    code: i32,
    argument: &'static str,
    reason: String,
    context: Option<u32>,
}

impl Fault {
    /// A fault of this class, with nothing more to say.
    #[cold]
    #[inline(never)]
    pub fn new(class: Class) -> Fault {
        Fault::code(class as i32)
    }

    /// A fault with an error code, which may be one that the user added.
    #[cold]
    pub fn code(code: i32) -> Fault {
        Fault(Box::new(Details { code, argument: "", reason: String::new(), context: None }))
    }

    /// The argument that is wrong, as the standard names it.
    #[cold]
    pub fn argument(mut self, argument: &'static str) -> Fault {
        if self.0.argument.is_empty() {
            self.0.argument = argument;
        }
        self
    }

    /// Another name for the argument: what one part of the library knows as one object the caller passed in an array.
    #[cold]
    pub fn renamed(mut self, from: &str, to: &'static str) -> Fault {
        if self.0.argument == from {
            self.0.argument = to;
        }
        self
    }

    /// The same for a function of MPI_T, which has classes of its own (MPI 5.0 §15.3.10).
    #[cold]
    pub fn of_tool(mut self) -> Fault {
        let class = match self.0.code {
            code if code == Class::UnsupportedOperation as i32 => Class::ToolNotSupported,
            code if code == Class::NoMem as i32 => Class::ToolMemory,
            code if code >= Class::ToolCannotInit as i32 => return self,
            _ => Class::ToolInvalid,
        };
        self.0.code = class as i32;
        self
    }

    /// Why, in a sentence without the full stop: "communicator MPI_COMM_WORLD has 4 ranks, 7 is not one of them".
    #[cold]
    pub fn because(mut self, reason: impl Into<String>) -> Fault {
        self.0.reason = reason.into();
        self
    }

    /// The communicator on which it happened, by its context number, where no argument of the call names it.
    #[cold]
    pub fn on(mut self, context: Option<u32>) -> Fault {
        self.0.context = context;
        self
    }

    /// As [`Fault::on`], unless it is known already.
    #[cold]
    pub fn or_on(self, context: Option<u32>) -> Fault {
        let context = self.context().or(context);
        self.on(context)
    }

    /// The context number of the communicator, if [`Fault::on`] named one.
    pub fn context(&self) -> Option<u32> {
        self.0.context
    }

    /// The error code that the caller sees.
    pub fn get(&self) -> i32 {
        self.0.code
    }

    /// The argument's name, or nothing.
    pub fn of_argument(&self) -> &'static str {
        self.0.argument
    }

    /// The reason, or nothing.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
}

impl From<Class> for Fault {
    #[cold]
    fn from(class: Class) -> Fault {
        Fault::new(class)
    }
}

/// The one place where an error of the lower layers becomes a class of MPI.
impl From<opal_core::Error> for Fault {
    #[cold]
    fn from(error: opal_core::Error) -> Fault {
        use opal_core::Error;
        Fault::new(match error {
            Error::Invalid | Error::NotFound | Error::Exists => Class::Arg,
            Error::OutOfResource => Class::NoMem,
            Error::Unsupported => Class::UnsupportedOperation,
            Error::Unreachable => Class::ProcAborted,
            Error::Truncated => Class::Truncate,
            Error::Permission => Class::Access,
            Error::Malformed | Error::Mismatch => Class::Intern,
            Error::Timeout | Error::System => Class::Other,
        })
    }
}

/// The fault for memory that is not to be had.
#[cold]
pub fn no_room(bytes: usize) -> Fault {
    Fault::new(Class::NoMem).because(format!("no memory for a temporary buffer of {bytes} bytes"))
}
