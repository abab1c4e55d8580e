//! Algorithms that a component chooses among, and their words in parameters.

/// A component's algorithms for a function, made by [`coll_algorithms!`](crate::coll_algorithms).
pub trait Algorithms: Copy {
    /// As the component with the next lower priority does it.
    const FALLBACK: Self;

    /// The algorithm that a parameter or a decision file names; `None` for auto.
    fn by_word(word: &str) -> Option<Self>;
}

/// Makes an enum of a component's algorithms for a function. The first of them, which is not listed, is the next component's.
///
/// `WORDS` is what a parameter accepts: auto, next, and a word for each algorithm.
#[macro_export]
macro_rules! coll_algorithms {
    ($($(#[$doc:meta])* $name:ident { $($(#[$algorithm_doc:meta])* $algorithm:ident = $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                /// As the component with the next lower priority does it.
                Fallback,
                $($(#[$algorithm_doc])* $algorithm,)*
            }

            impl $name {
                /// What the parameter accepts.
                pub const WORDS: &'static [&'static str] = &["auto", "next", $($word),*];

                /// The parameter's word for it.
                pub fn word(self) -> &'static str {
                    match self {
                        $name::Fallback => "next",
                        $($name::$algorithm => $word,)*
                    }
                }
            }

            impl $crate::framework::coll::Algorithms for $name {
                const FALLBACK: $name = $name::Fallback;

                fn by_word(word: &str) -> Option<$name> {
                    match word {
                        "next" => Some($name::Fallback),
                        $($word => Some($name::$algorithm),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}
