//! Algorithms that a component chooses among, and their words in parameters.

/// The algorithms in which a component does a function, made by [`coll_algorithms!`](crate::coll_algorithms).
pub trait Algorithms: Copy {
    /// As the component with the next lower priority does it.
    const NEXT: Self;

    /// What a parameter or a decision file means; none for auto.
    fn by_word(word: &str) -> Option<Self>;
}

/// Makes an enum of the algorithms in which a function is done; the first of them, which is not named, is that of the next component.
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
                Next,
                $($(#[$algorithm_doc])* $algorithm,)*
            }

            impl $name {
                /// What the parameter accepts.
                pub const WORDS: &'static [&'static str] = &["auto", "next", $($word),*];

                /// The parameter's word for it.
                pub fn word(self) -> &'static str {
                    match self {
                        $name::Next => "next",
                        $($name::$algorithm => $word,)*
                    }
                }
            }

            impl $crate::framework::coll::Algorithms for $name {
                const NEXT: $name = $name::Next;

                fn by_word(word: &str) -> Option<$name> {
                    match word {
                        "next" => Some($name::Next),
                        $($word => Some($name::$algorithm),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}
