//! What an operation under way has on loan.
#![allow(unsafe_code)] // references become addresses and come back

/// Borrowed buffers that an operation holds as addresses, so that nothing but the operation touches them.
///
/// # Safety
/// `back` gives what `away` took.
pub unsafe trait Loan {
    /// As addresses.
    type Away: Copy;

    /// Turns them into addresses.
    fn away(self) -> Self::Away;

    /// Turns them back.
    ///
    /// # Safety
    /// Once, with what `away` gave, after the operation has ended and while the loan lasts.
    unsafe fn back(away: Self::Away) -> Self;
}

// SAFETY: there and back.
unsafe impl<'a, B: ?Sized> Loan for &'a B {
    type Away = *const B;

    #[inline(always)]
    fn away(self) -> *const B {
        self
    }

    unsafe fn back(away: *const B) -> &'a B {
        // SAFETY: it was a reference, whose loan lasts.
        unsafe { &*away }
    }
}

// SAFETY: there and back.
unsafe impl<'a, B: ?Sized> Loan for &'a mut B {
    type Away = *mut B;

    #[inline(always)]
    fn away(self) -> *mut B {
        self
    }

    unsafe fn back(away: *mut B) -> &'a mut B {
        // SAFETY: it was the only reference, and comes back once.
        unsafe { &mut *away }
    }
}

// SAFETY: there is nothing.
unsafe impl Loan for () {
    type Away = ();

    fn away(self) {}

    unsafe fn back((): ()) {}
}

// SAFETY: there and back, each.
unsafe impl<A: Loan, B: Loan> Loan for (A, B) {
    type Away = (A::Away, B::Away);

    fn away(self) -> Self::Away {
        (self.0.away(), self.1.away())
    }

    unsafe fn back(away: Self::Away) -> Self {
        // SAFETY: the caller's promise.
        let first = unsafe { A::back(away.0) };
        // SAFETY: the caller's promise.
        let second = unsafe { B::back(away.1) };
        (first, second)
    }
}
