//! The row macro.

/// One row per function of the standard:
///
/// ```text
/// rows! {
///     /// Sends a message. MPI 5.0 §3.2.1.
///     fn Send(buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm) [large] => {
///         /* sees the checked values, ends in Result<()> */
///     }
///     /// Which version of the standard. MPI 5.0 §9.1.1.
///     fn Get_version(version: Out<i32>, subversion: Out<i32>) [always] => { … }
///     /// Opens a file. MPI 5.0 §14.2.1.
///     fn File_open(comm: Comm, …) [] => unsupported
///     /// Seconds since some time in the past. MPI 5.0 §9.6.
///     fn Wtime() -> f64 => { … }
/// }
/// ```
/// Flags: `large` adds the twin `MPI_X_c`, whose kinds use their `Large` C type. `always`: may be called before MPI is
/// initialised and after it is finalised; all others are refused then. `tool` (MPI_T): errors are returned, no handler is called,
/// and the tool interface must be initialised instead of MPI; `tool, always`: neither. `fast`: the symbol jumps to the function in its
/// [`DispatchSlot`](crate::abi::dispatch::DispatchSlot), at first the row's. `shortcut`: `shortcut_x` of the same file gets the arguments
/// as C passed them before anything is checked; where it returns `true`, it did all (not of the twin). `unsupported` instead of a body: the function checks no argument, so that the
/// honest error wins, and raises MPI_ERR_UNSUPPORTED_OPERATION. A row with `->` gets its arguments as C passed them and cannot fail.
macro_rules! rows {
    () => {};
    ($(#[$doc:meta])* fn $name:ident($($p:ident: $k:ty),* $(,)?) -> $ret:ty => $body:block $($rest:tt)*) => {
        pastey::paste! {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn [<PMPI_ $name>]($($p: $k),*) -> $ret $body
            weak_alias!($name);
        }
        rows! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($p:ident: $k:ty),* $(,)?) [$($flag:ident),*] => unsupported $($rest:tt)*) => {
        rows! { @refuse [$($flag)*] $(#[$doc])* $name ($($p: $k),*) }
        rows! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($p:ident: $k:ty),* $(,)?) [$($flag:ident),*] => $body:block $($rest:tt)*) => {
        rows! { @one [$($flag)*] $(#[$doc])* $name ($($p: $k),*) $body }
        rows! { $($rest)* }
    };
    (@one [] $($row:tt)*) => { rows! { @emit initialized raise C check [] $($row)* } };
    (@one [always] $($row:tt)*) => { rows! { @emit always raise C check [] $($row)* } };
    (@one [shortcut] $($row:tt)*) => { rows! { @short $($row)* } };
    (@one [tool] $($row:tt)*) => { rows! { @emit tool_initialized raise_tool C check [] $($row)* } };
    (@one [tool always] $($row:tt)*) => { rows! { @emit always raise_tool C check [] $($row)* } };
    (@one [large] $($row:tt)*) => {
        rows! { @emit initialized raise C check [] $($row)* }
        rows! { @emit initialized raise Large check_large [_c] $($row)* }
    };
    (@one [large shortcut] $($row:tt)*) => {
        rows! { @short $($row)* }
        rows! { @emit initialized raise Large check_large [_c] $($row)* }
    };
    (@one [large fast] $($row:tt)*) => {
        rows! { @dispatched $($row)* }
        rows! { @emit initialized raise Large check_large [_c] $($row)* }
    };
    (@one [large always] $($row:tt)*) => {
        rows! { @emit always raise C check [] $($row)* }
        rows! { @emit always raise Large check_large [_c] $($row)* }
    };
    (@refuse [] $($row:tt)*) => { rows! { @refusal initialized raise C [] $($row)* } };
    (@refuse [always] $($row:tt)*) => { rows! { @refusal always raise C [] $($row)* } };
    (@refuse [tool] $($row:tt)*) => { rows! { @refusal always raise_tool C [] $($row)* } };
    (@refuse [large] $($row:tt)*) => {
        rows! { @refusal initialized raise C [] $($row)* }
        rows! { @refusal initialized raise Large [_c] $($row)* }
    };
    (@refusal $state:ident $raise:ident $ctype:ident [$($suffix:ident)?] $(#[$doc:meta])* $name:ident ($($p:ident: $k:ty),*)) => {
        pastey::paste! {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn [<PMPI_ $name $($suffix)?>]($($p: <$k as $crate::abi::kinds::ParamKind>::$ctype),*) -> core::ffi::c_int {
                let fault = match $crate::init::$state() {
                    Ok(()) => $crate::error::Fault::new($crate::error::Class::UnsupportedOperation),
                    Err(fault) => fault,
                };
                $crate::abi::$raise(
                    concat!("MPI_", stringify!($name) $(, stringify!($suffix))?),
                    &[$(<$k as $crate::abi::kinds::ParamKind>::scope(&raw const $p as *const ())),*],
                    fault,
                )
            }
            weak_alias!([<$name $($suffix)?>]);
        }
    };
    (@dispatched $(#[$doc:meta])* $name:ident ($($p:ident: $k:ty),*) $body:block) => {
        pastey::paste! {
            /// Where the symbol jumps to.
            pub(super) static [<$name:upper>]: $crate::abi::dispatch::DispatchSlot =
                $crate::abi::dispatch::DispatchSlot::to([<complete_ $name:lower>] as *const ());

            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn [<PMPI_ $name>]($($p: <$k as $crate::abi::kinds::ParamKind>::C),*) -> core::ffi::c_int {
                let function = [<$name:upper>].get();
                // SAFETY: each slot holds functions of its symbol's type only.
                let function = unsafe { core::mem::transmute::<*const (), $crate::framework::pml::[<$name Fn>]>(function) };
                // SAFETY: the same function with the same arguments.
                unsafe { function($($p),*) }
            }
            weak_alias!($name);

            pub(super) use [<full_ $name:lower>]::[<PMPI_ $name>] as [<complete_ $name:lower>];

            /// The full path. Its function has the symbol's name, too, so that debuggers show it: the symbol itself jumps here
            /// and is not on the stack.
            mod [<full_ $name:lower>] {
                use super::*;

                $(#[$doc])*
                #[expect(non_snake_case, reason = "the symbol's name")]
                pub unsafe extern "C" fn [<PMPI_ $name>](
                    $($p: <$k as $crate::abi::kinds::ParamKind>::C),*
                ) -> core::ffi::c_int {
                    rows! { @run initialized raise check [] $name ($($p: $k),*) $body }
                }
            }
        }
    };
    (@short $(#[$doc:meta])* $name:ident ($($p:ident: $k:ty),*) $body:block) => {
        pastey::paste! {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn [<PMPI_ $name>]($($p: <$k as $crate::abi::kinds::ParamKind>::C),*) -> core::ffi::c_int {
                /// A function of its own, so that the shortcut has no stack frame. It has the symbol's name for debuggers.
                #[inline(never)]
                #[expect(non_snake_case, reason = "the symbol's name")]
                unsafe extern "C" fn [<PMPI_ $name>]($($p: <$k as $crate::abi::kinds::ParamKind>::C),*) -> core::ffi::c_int {
                    rows! { @run initialized raise check [] $name ($($p: $k),*) $body }
                }
                // SAFETY: the caller keeps the standard's contract for the arguments.
                if unsafe { [<shortcut_ $name:lower>]($($p),*) } {
                    return 0;
                }
                // SAFETY: the same function with the same arguments.
                unsafe { [<PMPI_ $name>]($($p),*) }
            }
            weak_alias!($name);
        }
    };
    (@emit $state:ident $raise:ident $ctype:ident $check:ident [$($suffix:ident)?] $(#[$doc:meta])* $name:ident ($($p:ident: $k:ty),*) $body:block) => {
        pastey::paste! {
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn [<PMPI_ $name $($suffix)?>]($($p: <$k as $crate::abi::kinds::ParamKind>::$ctype),*) -> core::ffi::c_int {
                rows! { @run $state $raise $check [$($suffix)?] $name ($($p: $k),*) $body }
            }
            weak_alias!([<$name $($suffix)?>]);
        }
    };
    (@run $state:ident $raise:ident $check:ident [$($suffix:ident)?] $name:ident ($($p:ident: $k:ty),*) $body:block) => {{
        let result = (|| -> $crate::error::Result<()> {
            $crate::init::$state()?;
            $(
                // SAFETY: the caller keeps the standard's contract for this argument's kind.
                let $p = match unsafe { <$k as $crate::abi::kinds::ParamKind>::$check($p) } {
                    Ok(value) => value,
                    Err(fault) => return Err(fault.argument(stringify!($p))),
                };
            )*
            $body
        })();
        match result {
            Ok(()) => 0,
            Err(fault) => $crate::abi::$raise(
                concat!("MPI_", stringify!($name) $(, stringify!($suffix))?),
                &[$(<$k as $crate::abi::kinds::ParamKind>::scope(&raw const $p as *const ())),*],
                fault,
            ),
        }
    }};
}

/// `MPI_X` as a weak name for `PMPI_X`: a tool's own `MPI_X` wins and reaches ours by its other name.
macro_rules! weak_alias {
    ($name:ident) => {
        core::arch::global_asm!(
            concat!(".weak MPI_", stringify!($name)),
            concat!(".type MPI_", stringify!($name), ",@function"),
            concat!(".set MPI_", stringify!($name), ", PMPI_", stringify!($name)),
        );
    };
}
