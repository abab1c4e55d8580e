//! Performance variables: what components count, and the messages of a communicator. MPI 5.0 §15.3.7.

use crate::error::{Class, Fault, Result};
use crate::framework::coll::{self, Function, Ran};
use crate::framework::pml::{self, TrafficCount};
use crate::init;
use crate::request;
use crate::tool::collectives::{self, CallCount};
use crate::tool::element;
use crate::tool::value::ValueType;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::mca::param::full_name;
use opal_core::mca::pvar::Reading;
use opal_core::mca::{self, PvarClass, image};
use opal_core::sync::{Mutex, Once};
use opal_core::{progress, wait};

/// A performance variable.
pub struct Pvar {
    /// Framework, component and its own name.
    pub name: String,
    /// What it says.
    pub class: PvarClass,
    /// Who wants it, as a level of a parameter.
    pub level: u8,
    /// What it is.
    pub description: Cow<'static, str>,
    /// Name of its framework, or of its layer.
    pub framework: &'static str,
    /// Name of its component; empty if it belongs to the framework.
    pub component: &'static str,
    /// Where its numbers come from.
    pub origin: Origin,
}

/// Where the numbers of a variable come from.
#[derive(Clone, Copy)]
pub enum Origin {
    /// One number of this process.
    Process(&'static mca::Pvar),
    /// A number for each peer of a communicator, to which the variable is bound.
    Peers(TrafficCount),
    /// Calls of collective operations.
    Calls(&'static CallCount),
    /// The time in them.
    Time(&'static CallCount),
    /// The time of waits in them.
    Late(&'static CallCount),
}

/// How many there are now.
pub fn count() -> usize {
    fixed().len() + grown().len()
}

/// How many were added by now.
pub fn added() -> usize {
    grown().len()
}

/// All of them, in the order of their index: more may come behind them.
pub fn all() -> Vec<&'static Pvar> {
    fixed().iter().chain(grown()).collect()
}

/// The index of the variable that counts the calls of a function which an algorithm served.
pub fn of_algorithm(function: Function, ran: Ran) -> i32 {
    let (place, _) = collectives::place(function, ran);
    (fixed().len() + OF_CALLS * place) as i32
}

/// Those of each algorithm that has served an operation.
fn grown() -> Vec<&'static Pvar> {
    static GROWN: Mutex<Vec<&'static Pvar>> = Mutex::new(Vec::new());
    let mut grown = GROWN.lock();
    for served in collectives::served_from(grown.len() / OF_CALLS) {
        let (component, algorithm) = served.ran;
        let function = short(served.function);
        let by = if algorithm.is_empty() { String::new() } else { format!("_{}", word(algorithm)) };
        let whose = if algorithm.is_empty() { String::new() } else { format!(", algorithm {algorithm}") };
        let of_calls = of_calls(
            (component, &format!("{function}{by}")),
            &format!("{} by coll/{component}{whose}", served.function.name()),
            &served.count,
        );
        grown.extend(of_calls.map(|pvar| &*Box::leak(Box::new(pvar))));
    }
    grown.clone()
}

/// How often, how long, and how long in vain.
fn of_calls((component, name): (&'static str, &str), what: &str, count: &'static CallCount) -> [Pvar; OF_CALLS] {
    let pvar = |ending: &str, class, description: String, origin| Pvar {
        name: full_name(coll::FRAMEWORK.name, component, &format!("{name}_{ending}")),
        class,
        level: 2,
        description: description.into(),
        framework: coll::FRAMEWORK.name,
        component,
        origin,
    };
    let calls = format!(
        "Calls of {what}, of the blocking form. Counting begins when a handle of such a variable is allocated, or a registration for \
         coll_end."
    );
    let time = String::from("Time in these calls, in seconds: with the waiting for ranks that were late.");
    let late = String::from(
        "Of that the time in which nothing happened, in seconds, since other ranks came late: from the first look at the clock on, some \
         microseconds after a wait began.",
    );
    [
        pvar("calls", PvarClass::Counter, calls, Origin::Calls(count)),
        pvar("time", PvarClass::Timer, time, Origin::Time(count)),
        pvar("late_time", PvarClass::Timer, late, Origin::Late(count)),
    ]
}

/// `reduce_scatter` for MPI_Reduce_scatter.
fn short(function: Function) -> String {
    word(function.name().trim_start_matches("MPI_"))
}

fn word(text: &str) -> String {
    text.chars().map(|one| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '_' }).collect()
}

/// Those that are there from the beginning.
fn fixed() -> &'static [Pvar] {
    static ALL: Once<Vec<Pvar>> = Once::new();
    ALL.call_once(|| {
        let mut all: Vec<Pvar> = wait::PVARS.iter().chain(progress::PVARS).map(|pvar| of(pvar, "opal", "")).collect();
        all.push(of(&REQUESTS, init::FRAMEWORK.name, ""));
        all.extend(PEERS.iter().map(|(name, level, class, count, description)| Pvar {
            name: full_name(pml::FRAMEWORK.name, "", name),
            class: *class,
            level: *level,
            description: (*description).into(),
            framework: pml::FRAMEWORK.name,
            component: "",
            origin: Origin::Peers(*count),
        }));
        all.extend(
            Function::ALL
                .into_iter()
                .flat_map(|function| of_calls(("", &short(function)), function.name(), collectives::of(function))),
        );
        for info in image::components() {
            all.extend(info.pvars.iter().map(|pvar| of(pvar, info.framework.name, info.name)));
        }
        all
    })
}

fn of(pvar: &'static mca::Pvar, framework: &'static str, component: &'static str) -> Pvar {
    Pvar {
        name: full_name(framework, component, pvar.name),
        class: pvar.class,
        level: pvar.verbosity,
        description: pvar.help.into(),
        framework,
        component,
        origin: Origin::Process(pvar),
    }
}

/// The performance variable with an index that may be anything.
pub fn get(index: i32) -> Result<&'static Pvar> {
    element(&all(), index, "performance variables").copied().map_err(|fault| fault.argument("pvar_index"))
}

/// The index of a name and a class.
pub fn index(name: &str, class: i32) -> Result<i32> {
    let found = all().into_iter().position(|pvar| pvar.name == name && pvar.class_number() == class);
    found.map(|index| index as i32).ok_or_else(|| {
        let why = format!("no performance variable of class {class} is named {name}");
        Fault::new(Class::ToolInvalidName).argument("name").because(why)
    })
}

impl Pvar {
    /// MPI_T_PVAR_CLASS_LEVEL to MPI_T_PVAR_CLASS_TIMER.
    pub fn class_number(&self) -> i32 {
        match self.class {
            PvarClass::Level => 2,
            PvarClass::HighWatermark => 5,
            PvarClass::Counter => 7,
            PvarClass::Aggregate => 8,
            PvarClass::Timer => 9,
        }
    }

    /// Time is in seconds (MPI 5.0 §15.3.7).
    pub fn value_type(&self) -> ValueType {
        if self.class == PvarClass::Timer { ValueType::Double } else { ValueType::Unsigned }
    }

    /// Whether it can be neither started nor stopped, and neither written nor reset: a level is what it is.
    pub fn is_level(&self) -> bool {
        self.class == PvarClass::Level
    }

    /// MPI_T_BIND_NO_OBJECT or MPI_T_BIND_MPI_COMM.
    pub fn bind(&self) -> i32 {
        match self.origin {
            Origin::Process(_) | Origin::Calls(_) | Origin::Time(_) | Origin::Late(_) => super::NO_OBJECT,
            Origin::Peers(_) => super::BOUND_TO_COMM,
        }
    }
}

const OF_CALLS: usize = 3;

static REQUESTS: mca::Pvar = mca::Pvar::new(
    "requests",
    PvarClass::Level,
    2,
    "Requests in use: under way, complete and not yet waited for, or persistent. What is complete when it starts takes none.",
    Reading::Of(|| request::in_use() as u64),
);

const PEERS: [(&str, u8, PvarClass, TrafficCount, &str); 4] = [
    (
        "messages_sent",
        1,
        PvarClass::Counter,
        TrafficCount::Sent,
        "Messages sent to each rank of a communicator, of the remote group if it is an intercommunicator. Messages of \
         collective operations are not counted; a round of a partitioned one is a message. Counting begins when a handle is allocated, and makes short messages slower.",
    ),
    (
        "bytes_sent",
        1,
        PvarClass::Aggregate,
        TrafficCount::SentBytes,
        "Bytes of the messages that pml_messages_sent counts.",
    ),
    (
        "messages_received",
        1,
        PvarClass::Counter,
        TrafficCount::Received,
        "Messages from each rank that met a receive on a communicator; as pml_messages_sent.",
    ),
    (
        "bytes_received",
        1,
        PvarClass::Aggregate,
        TrafficCount::ReceivedBytes,
        "Bytes of the messages that pml_messages_received counts, as many as the receives had room for.",
    ),
];
