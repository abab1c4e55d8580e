//! Frameworks and components made for tests of the component architecture: each component counts how often it was
//! opened and closed, and offers or declines as its declaration says.

use opal_core::mca::{self, Declined, Framework, Info};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What the components of all frameworks here offer beside the architecture's own methods.
pub trait Component: mca::Component {
    /// A priority and a module, which is its own name.
    fn query(&self) -> Result<(i32, &'static str), Declined>;
    /// How often it was opened and closed.
    fn counts(&self) -> (usize, usize);
}

/// A component that does as it was told.
pub struct Fake {
    info: &'static Info,
    opens: Result<(), Declined>,
    offers: Result<i32, Declined>,
    opened: AtomicUsize,
    closed: AtomicUsize,
}

impl Fake {
    const fn new(info: &'static Info, opens: Result<(), Declined>, offers: Result<i32, Declined>) -> Fake {
        Fake { info, opens, offers, opened: AtomicUsize::new(0), closed: AtomicUsize::new(0) }
    }
}

impl mca::Component for Fake {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn open(&self) -> Result<(), Declined> {
        self.opened.fetch_add(1, Relaxed);
        self.opens
    }

    fn close(&self) {
        self.closed.fetch_add(1, Relaxed);
    }
}

impl Component for Fake {
    fn query(&self) -> Result<(i32, &'static str), Declined> {
        self.offers.map(|priority| (priority, self.info.name))
    }

    fn counts(&self) -> (usize, usize) {
        (self.opened.load(Relaxed), self.closed.load(Relaxed))
    }
}

macro_rules! fake {
    ($module:ident in $framework:ident, named $name:literal, opens $opens:expr, offers $offers:expr, params $params:expr) => {
        #[doc = concat!("Component ", $name, ".")]
        pub mod $module {
            opal_core::component! {
                /// Made for tests.
                pub static COMPONENT: crate::Fake = crate::Fake::new(&INFO, $opens, $offers);
                in crate::$framework, name $name, params $params
            }
        }
    };
}

/// One of many.
pub mod fruit {
    opal_core::framework! {
        /// Fruit: the best one is eaten.
        "fruit", Opal, version 3, OneOfMany, TEST_FRUITS: dyn crate::Component
    }
    fake!(cherry in fruit, named "cherry", opens Ok(()), offers Ok(30), params &[]);
    fake!(apple in fruit, named "apple", opens Ok(()), offers Ok(10), params &[]);
    fake!(banana in fruit, named "banana", opens Ok(()), offers Ok(30), params &[]);
    fake!(durian in fruit, named "durian", opens Err(opal_core::mca::Declined("it smells")), offers Ok(99), params &[]);
    fake!(elder in fruit, named "elder", opens Ok(()), offers Err(opal_core::mca::Declined("not ripe")), params &[]);
}

/// Named like the real one, because older names of its components are known to the architecture.
pub mod btl {
    use opal_core::params;

    opal_core::framework! {
        /// A stand-in for the transports.
        "btl", Opal, version 1, ManyOfMany, TEST_BTLS: dyn crate::Component
    }

    params! {
        /// A size.
        pub static EAGER_LIMIT: Size = Int(4096), "bytes", level 4;
        /// A word.
        pub static PATH: Choice(&["copy", "cma"]) = Text("cma"), "", level 5;
        /// A flag.
        pub static FAST: Bool = Bool(true), "", level 5;
        /// A number.
        pub static DEPTH: Int = Int(-1), "", level 9;
        /// A text.
        pub static NOTE: Text = Text(""), "", level 9;
    }

    fake!(tcp in btl, named "tcp", opens Ok(()), offers Ok(20), params &[]);
    fake!(sm in btl, named "sm", opens Ok(()), offers Ok(50), params super::ALL);
    fake!(own in btl, named "self", opens Ok(()), offers Ok(90), params &[]);
}

/// Static with one component, as it must be.
pub mod engine {
    opal_core::framework! {
        /// Exactly one is built in.
        "engine", Opal, version 1, Static, TEST_ENGINES: dyn crate::Component
    }
    fake!(diesel in engine, named "diesel", opens Ok(()), offers Ok(1), params &[]);
}

/// Static with none.
pub mod wheel {
    opal_core::framework! {
        /// Nobody provides it.
        "wheel", Opal, version 1, Static, TEST_WHEELS: dyn crate::Component
    }
}

/// Static with two.
pub mod driver {
    opal_core::framework! {
        /// Two provide it.
        "driver", Opal, version 1, Static, TEST_DRIVERS: dyn crate::Component
    }
    fake!(anna in driver, named "anna", opens Ok(()), offers Ok(1), params &[]);
    fake!(bert in driver, named "bert", opens Ok(()), offers Ok(1), params &[]);
}

/// With a component that was written for another version of the interface.
pub mod radio {
    opal_core::framework! {
        /// The interface has moved on.
        "radio", Opal, version 7, ManyOfMany, TEST_RADIOS: dyn crate::Component
    }

    /// The old component.
    pub mod tube {
        use opal_core::mca::{self, linkme};

        /// Written by hand: no macro lets a component claim another version.
        pub static INFO: mca::Info = mca::Info {
            framework: &super::FRAMEWORK,
            framework_version: 6,
            name: "tube",
            version: "0",
            doc: "Made for tests.",
            params: &[],
            pvars: &[],
        };
        /// The component.
        pub static COMPONENT: crate::Fake = crate::Fake::new(&INFO, Ok(()), Ok(1));

        #[allow(unsafe_code)] // linkme's expansion
        const _: () = {
            #[linkme::distributed_slice(super::TEST_RADIOS)]
            #[linkme(crate = opal_core::mca::linkme)]
            static REGISTRATION: &'static dyn crate::Component = &COMPONENT;
        };
    }
}

/// The frameworks in which nothing is wrong.
pub static SOUND: &[&Framework] = &[&fruit::FRAMEWORK, &btl::FRAMEWORK, &engine::FRAMEWORK];

/// The components of [`SOUND`].
pub static SOUND_COMPONENTS: &[&Info] = &[
    &fruit::apple::INFO,
    &fruit::banana::INFO,
    &fruit::cherry::INFO,
    &fruit::durian::INFO,
    &fruit::elder::INFO,
    &btl::own::INFO,
    &btl::sm::INFO,
    &btl::tcp::INFO,
    &engine::diesel::INFO,
];

// What any program of the library needs; the frameworks above are compared with lists of the tests' own.
opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock];
