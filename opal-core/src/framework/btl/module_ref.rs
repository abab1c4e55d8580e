//! A module as the message path calls it: through its table, or directly if it is the one that `--direct btl/…` names.
//! Other modules remain usable; each call first tests whether the module is the named one.

use super::{AmId, Endpoint, Full, Module, RxMessage};
use core::ops::Deref;

/// A module; all its methods, of which the three of the fast path may be direct calls.
#[derive(Clone, Copy)]
pub struct ModuleRef {
    module: &'static dyn Module,
    #[cfg(ompi_direct = "btl")]
    direct: bool,
}

#[cfg(ompi_direct = "btl")]
// SAFETY: `direct_btl!` defines them with these very signatures, in the component that `--direct` names.
unsafe extern "Rust" {
    safe fn __ompi_direct_btl_is_v1(module: *const ()) -> bool;
    // All below: `module` is one for which the above said yes.
    fn __ompi_direct_btl_send_inline_v1(
        module: *const (),
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> Result<(), Full>;
    fn __ompi_direct_btl_poll_peer_v1(module: *const (), from: Endpoint, polls: u32) -> Option<RxMessage<'static>>;
    fn __ompi_direct_btl_consume_v1(module: *const (), from: Endpoint);
}

impl ModuleRef {
    /// To call this module.
    pub fn new(module: &'static dyn Module) -> ModuleRef {
        ModuleRef {
            module,
            #[cfg(ompi_direct = "btl")]
            direct: __ompi_direct_btl_is_v1((&raw const *module).cast()),
        }
    }

    /// The module itself, for calls that need not be fast.
    pub fn module(&self) -> &'static dyn Module {
        self.module
    }

    /// [`Module::send_inline`].
    ///
    /// # Safety
    /// `payload` is readable for `bytes`.
    #[inline(always)]
    pub unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> Result<(), Full> {
        #[cfg(ompi_direct = "btl")]
        if self.direct {
            // SAFETY: the module is the component's, which `new` asked; the payload by the caller's promise.
            return unsafe { __ompi_direct_btl_send_inline_v1(self.own(), to, am, immediate, payload, bytes) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.module.send_inline(to, am, immediate, payload, bytes) }
    }

    /// [`Module::poll_peer`].
    #[inline(always)]
    pub fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        #[cfg(ompi_direct = "btl")]
        if self.direct {
            // SAFETY: the module is the component's, which `new` asked.
            return unsafe { __ompi_direct_btl_poll_peer_v1(self.own(), from, polls) };
        }
        self.module.poll_peer(from, polls)
    }

    /// [`Module::consume`].
    #[inline(always)]
    pub fn consume(&self, from: Endpoint) {
        #[cfg(ompi_direct = "btl")]
        if self.direct {
            // SAFETY: the module is the component's, which `new` asked.
            return unsafe { __ompi_direct_btl_consume_v1(self.own(), from) };
        }
        self.module.consume(from)
    }

    #[cfg(ompi_direct = "btl")]
    #[inline(always)]
    fn own(&self) -> *const () {
        (&raw const *self.module).cast()
    }
}

impl Deref for ModuleRef {
    type Target = dyn Module;

    #[inline(always)]
    fn deref(&self) -> &(dyn Module + 'static) {
        self.module
    }
}

/// For a component: defines the symbols by which `--direct btl/<name>` calls its module, of type `$type`; `$is` says
/// whether an address is that of its module.
#[macro_export]
macro_rules! direct_btl {
    ($type:ty, $is:expr) => {
        const _: () = {
            use $crate::framework::btl::{AmId, Endpoint, Full, Module, RxMessage};

            #[unsafe(export_name = "__ompi_direct_btl_is_v1")]
            fn is(module: *const ()) -> bool {
                $is(module)
            }
            #[unsafe(export_name = "__ompi_direct_btl_send_inline_v1")]
            #[inline]
            unsafe fn send_inline(
                module: *const (),
                to: Endpoint,
                am: AmId,
                immediate: u64,
                payload: *const u8,
                bytes: usize,
            ) -> ::core::result::Result<(), Full> {
                // SAFETY: the caller asked `is`; modules live as long as the process.
                let module: &'static $type = unsafe { &*module.cast() };
                // SAFETY: the payload is readable by the caller's promise.
                unsafe { module.send_inline(to, am, immediate, payload, bytes) }
            }
            #[unsafe(export_name = "__ompi_direct_btl_poll_peer_v1")]
            #[inline]
            unsafe fn poll_peer(module: *const (), from: Endpoint, polls: u32) -> Option<RxMessage<'static>> {
                // SAFETY: the caller asked `is`; modules live as long as the process.
                let module: &'static $type = unsafe { &*module.cast() };
                module.poll_peer(from, polls)
            }
            #[unsafe(export_name = "__ompi_direct_btl_consume_v1")]
            #[inline]
            unsafe fn consume(module: *const (), from: Endpoint) {
                // SAFETY: the caller asked `is`; modules live as long as the process.
                let module: &'static $type = unsafe { &*module.cast() };
                module.consume(from)
            }
        };
    };
}
