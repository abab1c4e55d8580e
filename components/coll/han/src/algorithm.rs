//! The names of coll/han's algorithms.
//!
//! One more function in two levels has these places: its code in `two_level`, its parameter in `params`, its row of
//! `select::SERVED` with the bytes up to which it is chosen, its arm in `module` (and in `module::BELOW` the functions that it
//! asks of a level), and `tests/coll/tests/levels.rs`.

ompi_core::coll_algorithms! {
    /// An algorithm of coll/han.
    Algorithm {
        /// In two levels.
        Leaders = "leaders",
    }
}
