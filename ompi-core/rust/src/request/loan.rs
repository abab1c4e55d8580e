//! Buffers on loan to operations under way.
#![allow(unsafe_code)] // references become addresses and come back

/// Borrowed buffers that an operation holds as addresses, so that nothing but the operation touches them.
///
/// # Safety
/// `back` gives what `away` took.
pub unsafe trait Loan {
    /// As addresses.
    type Away: Copy;
    /// The same buffers for a shorter time.
    type Shorter<'s>
    where
        Self: 's;

    /// Turns them into addresses.
    fn away(self) -> Self::Away;

    /// Turns them back.
    ///
    /// # Safety
    /// Once, with what `away` gave, after the operation has ended and while the loan lasts.
    unsafe fn back(away: Self::Away) -> Self;

    /// Lends them for a while.
    ///
    /// # Safety
    /// While no operation has them and the loan lasts; nothing else made from them is in use for `'s`.
    unsafe fn lend<'s>(away: Self::Away) -> Self::Shorter<'s>
    where
        Self: 's;
}

// SAFETY: there and back.
unsafe impl<'a, B: ?Sized> Loan for &'a B {
    type Away = *const B;
    type Shorter<'s>
        = &'s B
    where
        Self: 's;

    #[inline(always)]
    fn away(self) -> *const B {
        self
    }

    unsafe fn back(away: *const B) -> &'a B {
        // SAFETY: it was a reference, whose loan lasts.
        unsafe { &*away }
    }

    unsafe fn lend<'s>(away: *const B) -> &'s B
    where
        Self: 's,
    {
        // SAFETY: it was a reference, whose loan lasts longer.
        unsafe { &*away }
    }
}

// SAFETY: there and back.
unsafe impl<'a, B: ?Sized> Loan for &'a mut B {
    type Away = *mut B;
    type Shorter<'s>
        = &'s mut B
    where
        Self: 's;

    #[inline(always)]
    fn away(self) -> *mut B {
        self
    }

    unsafe fn back(away: *mut B) -> &'a mut B {
        // SAFETY: it was the only reference, and comes back once.
        unsafe { &mut *away }
    }

    unsafe fn lend<'s>(away: *mut B) -> &'s mut B
    where
        Self: 's,
    {
        // SAFETY: it was the only reference, whose loan lasts longer; it is the only one again by the caller's promise.
        unsafe { &mut *away }
    }
}

// SAFETY: there is nothing.
unsafe impl Loan for () {
    type Away = ();
    type Shorter<'s>
        = ()
    where
        Self: 's;

    fn away(self) {}

    unsafe fn back((): ()) {}

    unsafe fn lend<'s>((): ())
    where
        Self: 's,
    {
    }
}

// SAFETY: there and back, each.
unsafe impl<A: Loan, B: Loan> Loan for (A, B) {
    type Away = (A::Away, B::Away);
    type Shorter<'s>
        = (A::Shorter<'s>, B::Shorter<'s>)
    where
        Self: 's;

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

    unsafe fn lend<'s>(away: Self::Away) -> Self::Shorter<'s>
    where
        Self: 's,
    {
        // SAFETY: the caller's promise.
        let first = unsafe { A::lend(away.0) };
        // SAFETY: the caller's promise.
        let second = unsafe { B::lend(away.1) };
        (first, second)
    }
}
