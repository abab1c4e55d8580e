//! What mpirun is asked for.

use super::wait::Rests;
use crate::comm::Member;
use crate::error::{Class, Fault, Result};
use crate::parameters::CONNECT_TIMEOUT_S;
use crate::process;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::{message, sys};
use orte_core::framework::ess;
use orte_core::port::Channel;
use orte_core::universe::{Answer, EndRequest, Request};

/// MPI_Publish_name.
pub fn publish(service: &str, port: &str) -> Result<()> {
    match ask(Class::Service, &Request::Publish(service.into(), port.into()))? {
        Answer::Done => Ok(()),
        other => Err(refused(Class::Service, other)),
    }
}

/// MPI_Unpublish_name.
pub fn unpublish(service: &str) -> Result<()> {
    match ask(Class::Service, &Request::Unpublish(service.into()))? {
        Answer::Done => Ok(()),
        other => Err(refused(Class::Service, other)),
    }
}

/// MPI_Lookup_name: the port.
pub fn lookup(service: &str) -> Result<String> {
    match ask(Class::Name, &Request::Lookup(service.into()))? {
        Answer::Port(port) => Ok(port),
        other => Err(refused(Class::Name, other)),
    }
}

/// A communicator of these processes was disconnected, and this process has left those of other jobs among `left`. One process of a
/// group speaks for all of it.
pub fn parted(left: &[ProcessName]) {
    let own = process::name(process::me().index).job;
    let mut jobs: Vec<u64> = left.iter().map(|process| process.job).collect();
    jobs.sort_unstable();
    jobs.dedup();
    jobs.into_iter().for_each(|job| tell(&Request::Parted(own, job)));
}

/// Two groups have met: the root of each says so.
pub fn met(here: &[Member], there: &[Member]) {
    let jobs = |members: &[Member]| {
        let mut jobs: Vec<u64> = members.iter().map(|member| process::name(member.process).job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    };
    let (here, there) = (jobs(here), jobs(there));
    for one in here {
        there.iter().filter(|other| **other != one).for_each(|other| tell(&Request::Met(one, *other)));
    }
}

/// Tells mpirun that jobs have met, or parted. One that cannot be told is gone, or never was. One that is stopped reads it when it goes
/// on: nobody waits for it longer than for a connection.
fn tell(what: &Request) {
    let universe = ess::selected().and_then(|environment| environment.running_universe());
    if let Some(Ok(mut channel)) = universe.map(|universe| call(&universe, what)) {
        // Its answer comes when it knows: what this process does next may depend on it.
        let (seconds, until_ns) = deadline();
        let mut rests = Rests::waiting_for(for_mpirun);
        while let Ok(None) = poll(&mut channel) {
            if sys::monotonic_ns() >= until_ns {
                message!(
                    "mpirun did not answer within {seconds} s (mpi_connect_timeout_s); was it stopped? It hears when it goes on \
                     that jobs have met or parted; until then the failure of one is not told to the other"
                );
                return;
            }
            rests.on(&channel);
        }
    }
}

/// Has these processes ended, of whatever jobs they are, and no others; this one is to end by itself. `Err` if nobody can be asked.
pub fn end(members: &[u32], status: i32, message: &str) -> Result<()> {
    let own = process::name(process::me().index);
    let mut processes: Vec<(u64, Vec<u32>)> = Vec::new();
    for name in members.iter().map(|member| process::name(*member)).filter(|name| *name != own) {
        match processes.iter_mut().find(|(job, _)| *job == name.job) {
            Some((_, ranks)) => ranks.push(name.rank),
            None => processes.push((name.job, Vec::from([name.rank]))),
        }
    }
    let end = EndRequest { by: (own.job, own.rank), processes, status, message: message.into() };
    match ask(Class::Other, &Request::End(end))? {
        Answer::Done => Ok(()),
        other => Err(refused(Class::Other, other)),
    }
}

/// Where mpirun is asked.
pub fn universe() -> Result<String> {
    ess::selected().ok_or(Class::Intern)?.universe().map_err(unasked)
}

/// A connection to mpirun that has sent a request.
pub fn call(universe: &str, request: &Request) -> Result<Channel> {
    let mut channel = Channel::call(universe).map_err(unasked)?;
    channel.send(&request.encode()).map_err(unasked)?;
    Ok(channel)
}

fn unasked(why: String) -> Fault {
    Fault::new(Class::Other).because(format!("mpirun cannot be asked: {why}"))
}

/// The next answer, if it is here.
pub fn poll(channel: &mut Channel) -> Result<Option<Answer>> {
    let frame =
        channel.poll().map_err(|why| Fault::new(Class::Other).because(format!("mpirun does not answer: {why}")))?;
    let malformed = |_| Fault::new(Class::Intern).because("mpirun's answer cannot be understood");
    frame.map(|frame| Answer::decode(&frame).map_err(malformed)).transpose()
}

/// `class` is that of the error if there is nobody to ask.
fn ask(class: Class, what: &Request) -> Result<Answer> {
    let mut channel = universe()
        .and_then(|universe| call(&universe, what))
        .map_err(|fault| Fault::new(class).because(fault.reason()))?;
    let (seconds, until_ns) = deadline();
    let mut rests = Rests::waiting_for(for_mpirun);
    loop {
        if let Some(answer) = poll(&mut channel)? {
            return Ok(answer);
        }
        if sys::monotonic_ns() >= until_ns {
            let why = format!("mpirun did not answer within {seconds} s (mpi_connect_timeout_s); was it stopped?");
            return Err(Fault::new(Class::Other).because(why));
        }
        rests.on(&channel);
    }
}

fn for_mpirun() -> String {
    "mpirun to answer".into()
}

/// How long mpirun may take to answer, and until when.
fn deadline() -> (u64, u64) {
    let seconds = CONNECT_TIMEOUT_S.size() as u64;
    (seconds, sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000)))
}

fn refused(class: Class, answer: Answer) -> Fault {
    match answer {
        Answer::Refused(why) => Fault::new(class).argument("service_name").because(why),
        _ => Fault::new(Class::Intern).because("mpirun's answer cannot be understood"),
    }
}
