//! What mpirun is asked for.

use super::call::rest;
use crate::error::{Class, Fault, Result};
use crate::parameters::CONNECT_TIMEOUT_S;
use alloc::format;
use alloc::string::String;
use opal_core::sys;
use orte_core::framework::ess;
use orte_core::port::Channel;
use orte_core::universe::{Answer, Request};

/// MPI_Publish_name.
pub fn publish(service: &str, port: &str) -> Result<()> {
    match ask(&Request::Publish(service.into(), port.into()))? {
        Answer::Done => Ok(()),
        other => Err(refused(Class::Service, other)),
    }
}

/// MPI_Unpublish_name.
pub fn unpublish(service: &str) -> Result<()> {
    match ask(&Request::Unpublish(service.into()))? {
        Answer::Done => Ok(()),
        other => Err(refused(Class::Service, other)),
    }
}

/// MPI_Lookup_name: the port.
pub fn lookup(service: &str) -> Result<String> {
    match ask(&Request::Lookup(service.into()))? {
        Answer::Port(port) => Ok(port),
        other => Err(refused(Class::Name, other)),
    }
}

/// A connection to mpirun that has sent a request.
pub fn request(request: &Request) -> Result<Channel> {
    let wrong = |why: String| Fault::new(Class::Other).because(format!("mpirun cannot be asked: {why}"));
    let universe = ess::selected().and_then(|environment| environment.universe()).ok_or_else(|| {
        wrong(String::from("no mpirun of this library started this process; start it with `mpirun -n 1`"))
    })?;
    let mut channel = Channel::call(universe).map_err(wrong)?;
    channel.send(&request.encode()).map_err(wrong)?;
    Ok(channel)
}

/// The next answer, if it is here.
pub fn poll(channel: &mut Channel) -> Result<Option<Answer>> {
    let frame =
        channel.poll().map_err(|why| Fault::new(Class::Other).because(format!("mpirun does not answer: {why}")))?;
    let malformed = |_| Fault::new(Class::Intern).because("mpirun's answer cannot be understood");
    frame.map(|frame| Answer::decode(&frame).map_err(malformed)).transpose()
}

fn ask(what: &Request) -> Result<Answer> {
    let mut channel = request(what)?;
    let seconds = CONNECT_TIMEOUT_S.size() as u64;
    let until_ns = sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000));
    loop {
        if let Some(answer) = poll(&mut channel)? {
            return Ok(answer);
        }
        if sys::monotonic_ns() >= until_ns {
            let why = format!("mpirun did not answer within {seconds} s (mpi_connect_timeout_s); was it stopped?");
            return Err(Fault::new(Class::Other).because(why));
        }
        rest(&channel);
    }
}

fn refused(class: Class, answer: Answer) -> Fault {
    match answer {
        Answer::Refused(why) => Fault::new(class).argument("service_name").because(why),
        _ => Fault::new(Class::Intern).because("mpirun's answer cannot be understood"),
    }
}
