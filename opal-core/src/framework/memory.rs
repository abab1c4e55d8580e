//! Watching the program's memory come and go: static. What registers memory with a device must know when a mapping
//! ends; a component that hooks the C library tells it, `memory/none` says that nobody does.
#![allow(unsafe_code)] // linkme's expansion and the component's symbol

use crate::mca;

/// A way to watch. Whether unmapping is seen is the symbol that [`provide_memory!`](crate::provide_memory) defines.
pub trait Component: mca::Component {}

crate::framework! {
    /// Watches the program's memory mappings.
    "memory", Opal, version 1, Static, OMPI_MEMORIES: dyn Component
}

#[cfg(not(test))]
mod component {
    // SAFETY: `provide_memory!` defines it with this very signature.
    unsafe extern "Rust" {
        #[link_name = "__opal_memory_watches_v1"]
        pub safe fn watches() -> bool;
    }
}
#[cfg(test)]
mod component {
    pub fn watches() -> bool {
        false
    }
}

/// Whether every unmapping in this process is seen, so that a registration may be kept beyond one operation.
pub fn watches() -> bool {
    component::watches()
}

/// Defines the framework's symbol: `provide_memory!(watches)` with `fn watches() -> bool`.
#[macro_export]
macro_rules! provide_memory {
    ($($watches:ident)::+) => {
        #[allow(unsafe_code)]
        const _: () = {
            #[unsafe(export_name = "__opal_memory_watches_v1")]
            fn provided_watches() -> bool {
                $($watches)::+()
            }
        };
    };
}
