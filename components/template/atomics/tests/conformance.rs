//! The suite of framework atomics: what one thread sees, and litmus tests with several.

test_statics::atomics_suite! {
    template: atomics_template;
}
