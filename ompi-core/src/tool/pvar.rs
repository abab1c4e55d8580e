//! Performance variables: what components count, and the messages of a communicator. MPI 5.0 §15.3.7.

use crate::error::{Class, Fault, Result};
use crate::framework::pml::{self, TrafficCount};
use crate::init;
use crate::request;
use crate::tool::element;
use crate::tool::value::ValueType;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::mca::param::full_name;
use opal_core::mca::pvar::Reading;
use opal_core::mca::{self, PvarClass, image};
use opal_core::sync::Once;
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
    pub description: &'static str,
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
}

/// All of them, in the order of their index.
pub fn all() -> &'static [Pvar] {
    static ALL: Once<Vec<Pvar>> = Once::new();
    ALL.call_once(|| {
        let mut all: Vec<Pvar> = wait::PVARS.iter().chain(progress::PVARS).map(|pvar| of(pvar, "opal", "")).collect();
        all.push(of(&REQUESTS, init::FRAMEWORK.name, ""));
        all.extend(PEERS.iter().map(|(name, level, class, count, description)| Pvar {
            name: full_name(pml::FRAMEWORK.name, "", name),
            class: *class,
            level: *level,
            description,
            framework: pml::FRAMEWORK.name,
            component: "",
            origin: Origin::Peers(*count),
        }));
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
        description: pvar.help,
        framework,
        component,
        origin: Origin::Process(pvar),
    }
}

/// The performance variable with an index that may be anything.
pub fn get(index: i32) -> Result<&'static Pvar> {
    element(all(), index, "performance variables").map_err(|fault| fault.argument("pvar_index"))
}

/// The index of a name and a class.
pub fn index(name: &str, class: i32) -> Result<i32> {
    let found = all().iter().position(|pvar| pvar.name == name && pvar.class_number() == class);
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
            Origin::Process(_) => super::NO_OBJECT,
            Origin::Peers(_) => super::BOUND_TO_COMM,
        }
    }
}

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
         collective operations are not counted. Counting begins when a handle is allocated, and makes short messages slower.",
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
