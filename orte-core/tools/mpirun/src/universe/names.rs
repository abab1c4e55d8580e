//! Names of ports: MPI_Publish_name, MPI_Unpublish_name, MPI_Lookup_name. Each universe has names of its own; those that are not
//! found there are looked for in all other ones of the user on this host.
//!
//! For that the mpiruns of a user need no server. The first one that uses names takes the user's port ([`Listener::of_user`]) and
//! answers the others, each of which tells it the names of its universe. When it ends, the port is free: the others see their connections
//! close, and one of them takes the port. Nothing lies in a file system, so nothing can be left there.
//!
//! Where the user names a server ([`crate::name_server`]), it has the part of that first mpirun, and nobody else can take it.

use crate::refusal::say;
use orte_core::port::{Channel, Listener};
use orte_core::universe::{Answer, Request};
use rustix::event::{PollFd, PollFlags};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

type Ports = BTreeMap<String, String>;

/// The names that this universe knows.
#[derive(Default)]
pub struct Names {
    own: Ports,
    beyond: Beyond,
    // The text of the port of the server that the user named.
    server: Option<String>,
}

/// Names of other universes.
#[derive(Default)]
enum Beyond {
    /// Nobody has asked for a name yet.
    #[default]
    Unknown,
    /// This mpirun has the user's port: the mpiruns that called, with their names.
    Serving(Listener, Vec<(Channel, Ports)>),
    /// Another one has it. What it was asked and has not answered, in order, with who waits for the answer.
    Asking(Channel, VecDeque<Asked>),
    /// The system refuses it: the names are those of this universe.
    Refused(String),
}

/// What another mpirun was asked.
struct Asked {
    /// Who waits for the answer.
    client: Option<u64>,
    request: Request,
    since: Instant,
}

impl Asked {
    fn now(client: Option<u64>, request: Request) -> Asked {
        Asked { client, request, since: Instant::now() }
    }

    /// What a process is told where a name server cannot be asked: then what was to be published is not.
    fn failed(&self, own: &mut Ports, why: &str) -> Answer {
        match &self.request {
            Request::Publish(service, _) => {
                own.remove(service);
                Answer::Refused(format!("the name `{service}` cannot be published: {why}"))
            }
            Request::Lookup(service) => unreachable(service, why),
            _ => Answer::Done,
        }
    }
}

impl Names {
    /// Names of a server: of those who call this port.
    pub fn serving(listener: Listener) -> Names {
        Names { beyond: Beyond::Serving(listener, Vec::new()), ..Names::default() }
    }

    /// Whether nobody has asked for a name yet.
    pub fn is_unused(&self) -> bool {
        matches!(self.beyond, Beyond::Unknown)
    }

    /// Names beyond this universe are those of the server with this port.
    pub fn use_server(&mut self, text: Option<String>) {
        self.server = text;
    }

    /// What to wait for: any of it is a reason to call [`Names::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        match &self.beyond {
            Beyond::Serving(listener, callers) => {
                polls.extend(listener.descriptors().map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN)));
                polls.extend(callers.iter().filter_map(|(channel, _)| interest(channel)));
            }
            Beyond::Asking(server, _) => polls.extend(interest(server)),
            Beyond::Unknown | Beyond::Refused(_) => {}
        }
    }

    /// What a process that asks is told; `None`: [`Names::pump`] will say it.
    pub fn answer(&mut self, client: u64, request: Request) -> Option<Answer> {
        match &request {
            Request::Publish(service, _) if self.own.contains_key(service) => {
                return Some(Answer::Refused(format!("the name `{service}` is published already")));
            }
            Request::Publish(service, port) => _ = self.own.insert(service.clone(), port.clone()),
            Request::Unpublish(service) => {
                if self.own.remove(service).is_none() {
                    return Some(unknown(service));
                }
            }
            Request::Lookup(service) => {
                if let Some(port) = self.own.get(service) {
                    return Some(Answer::Port(port.clone()));
                }
            }
            _ => return None,
        }
        // A name that was published counts once the others can find it.
        if self.is_unused() {
            self.find_others(VecDeque::new());
        }
        match (&mut self.beyond, request) {
            (Beyond::Asking(server, waiting), request) => {
                // One that has ended is noticed in `pump`, which asks again.
                let _ = server.send(&request.encode());
                waiting.push_back(Asked::now(Some(client), request));
                None
            }
            (Beyond::Serving(_, callers), Request::Lookup(service)) => {
                // Names of mpiruns that have just ended are no longer there.
                serve(&self.own, callers);
                Some(found(callers, &service))
            }
            (Beyond::Refused(why), request) if self.server.is_some() => {
                Some(Asked::now(None, request).failed(&mut self.own, why))
            }
            (Beyond::Refused(why), Request::Lookup(service)) => Some(unreachable(&service, why)),
            _ => Some(Answer::Done),
        }
    }

    /// Hears other mpiruns. The answers that have come, and for whom.
    pub fn pump(&mut self) -> Vec<(u64, Answer)> {
        let mut answers = Vec::new();
        let (own, has_server) = (&mut self.own, self.server.is_some());
        let lost = match &mut self.beyond {
            Beyond::Unknown | Beyond::Refused(_) => None,
            Beyond::Serving(listener, callers) => {
                while let Ok(Some(channel)) = listener.poll() {
                    callers.push((channel, Ports::new()));
                }
                serve(own, callers);
                None
            }
            Beyond::Asking(server, waiting) => loop {
                match server.poll() {
                    Ok(None) => {
                        answers.extend(late(server, waiting, has_server.then_some(&mut *own)));
                        break None;
                    }
                    Ok(Some(frame)) => {
                        if let Some(Asked { client: Some(client), .. }) = waiting.pop_front() {
                            answers.push((
                                client,
                                Answer::decode(&frame).unwrap_or_else(|_| Answer::Refused(OTHER.to_owned())),
                            ));
                        }
                    }
                    Err(why) if has_server => {
                        let why = format!("the name server does not answer ({why})");
                        let asked = std::mem::take(waiting);
                        answers.extend(
                            asked.into_iter().filter_map(|asked| Some((asked.client?, asked.failed(own, &why)))),
                        );
                        self.beyond = refused(why);
                        return answers;
                    }
                    Err(_) => break Some(std::mem::take(waiting)),
                }
            },
        };
        if let Some(waiting) = lost {
            answers.extend(self.find_others(waiting));
        }
        answers
    }

    /// Takes the user's port or calls whoever has it, and asks what was asked before. What is known at once.
    fn find_others(&mut self, asked: VecDeque<Asked>) -> Vec<(u64, Answer)> {
        self.beyond = self.others();
        if let Beyond::Asking(server, waiting) = &mut self.beyond {
            // Names that were to be published are among the own ones by now; to say it twice does no harm.
            let publish = |(service, port): (&String, &String)| Request::Publish(service.clone(), port.clone());
            let of_own = self.own.iter().map(|name| Asked::now(None, publish(name)));
            for one in of_own.chain(asked) {
                let _ = server.send(&one.request.encode());
                waiting.push_back(one);
            }
            return Vec::new();
        }
        let answer = |request: Request| match request {
            Request::Lookup(service) => unknown(&service),
            _ => Answer::Done,
        };
        asked.into_iter().filter_map(|asked| Some((asked.client?, answer(asked.request)))).collect()
    }

    fn others(&self) -> Beyond {
        if let Some(text) = &self.server {
            return match Channel::call(text) {
                Ok(server) => Beyond::Asking(server, VecDeque::new()),
                Err(why) => refused(format!("the name server cannot be called ({why})")),
            };
        }
        // Whoever has the port may end between both steps; then it is free.
        for _ in 0..TRIES {
            match Listener::of_user() {
                Ok(Some(listener)) => return Beyond::Serving(listener, Vec::new()),
                Ok(None) => {}
                Err(why) => return refused(why),
            }
            match Channel::call_user() {
                Ok(server) => return Beyond::Asking(server, VecDeque::new()),
                Err(why) if why.contains("another user") => return refused(why),
                // It has the port and does not listen yet.
                Err(_) => opal_core::sys::nap_us(1000),
            }
        }
        refused("the process that has the user's port for names does not take calls".to_owned())
    }
}

/// Answers for an mpirun that has the user's port and says nothing. What it says later is heard, and nobody waits for it.
/// Of a name server, which the user named, these are the names of this job.
fn late(server: &mut Channel, waiting: &mut VecDeque<Asked>, mut own: Option<&mut Ports>) -> Vec<(u64, Answer)> {
    let (mut answers, mut undone) = (Vec::new(), Vec::new());
    for asked in waiting.iter_mut().filter(|asked| asked.since.elapsed() >= PATIENCE) {
        let Some(client) = asked.client.take() else { continue };
        if let Some(own) = &mut own {
            let why = format!("the name server has said nothing for {} s: was it stopped?", PATIENCE.as_secs());
            answers.push((client, asked.failed(own, &why)));
            if let Request::Publish(service, _) = &asked.request {
                undone.push(Request::Unpublish(service.clone()));
            }
            continue;
        }
        answers.push((client, match &asked.request {
            Request::Lookup(service) => {
                let process = server.descriptor().and_then(|socket| rustix::net::sockopt::socket_peercred(socket).ok());
                let process = process.map_or(String::new(), |peer| format!(" (process {})", peer.pid));
                Answer::Refused(format!(
                    "the name `{service}` is not published in this job, and the mpirun that knows those of other jobs{process} has said \
                     nothing for {} s: was it stopped?",
                    PATIENCE.as_secs()
                ))
            }
            // This job has the name, or has it no more; the other one hears of it when it goes on.
            _ => Answer::Done,
        }));
    }
    // It hears what was asked when it goes on.
    for request in undone {
        let _ = server.send(&request.encode());
        waiting.push_back(Asked::now(None, request));
    }
    answers
}

/// Answers the mpiruns that called.
fn serve(own: &Ports, callers: &mut Vec<(Channel, Ports)>) {
    let mut place = 0;
    while place < callers.len() {
        let frame = match callers[place].0.poll() {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                place += 1;
                continue;
            }
            // Its names go with it.
            Err(_) => {
                callers.remove(place);
                continue;
            }
        };
        let answer = match Request::decode(&frame) {
            Ok(Request::Publish(service, port)) => {
                callers[place].1.insert(service, port);
                Answer::Done
            }
            Ok(Request::Unpublish(service)) => {
                callers[place].1.remove(&service);
                Answer::Done
            }
            Ok(Request::Lookup(service)) => match own.get(&service) {
                Some(port) => Answer::Port(port.clone()),
                None => found(callers, &service),
            },
            Ok(_) | Err(_) => Answer::Refused("the mpirun that keeps the names does not understand that".to_owned()),
        };
        // One that has ended is noticed at the next poll.
        let _ = callers[place].0.send(&answer.encode());
    }
}

/// Of several universes with this name the one that called this mpirun first.
fn found(callers: &[(Channel, Ports)], service: &str) -> Answer {
    match callers.iter().find_map(|(_, ports)| ports.get(service)) {
        Some(port) => Answer::Port(port.clone()),
        None => unknown(service),
    }
}

/// A reason to look at a connection.
pub fn interest(channel: &Channel) -> Option<PollFd<'_>> {
    let wanted = if channel.has_unsent() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    channel.descriptor().map(|descriptor| PollFd::from_borrowed_fd(descriptor, wanted))
}

fn unreachable(service: &str, why: &str) -> Answer {
    Answer::Refused(format!(
        "the name `{service}` is not published in this job, and names of other jobs cannot be found: {why}"
    ))
}

fn unknown(service: &str) -> Answer {
    Answer::Refused(format!("the name `{service}` is not published"))
}

fn refused(why: String) -> Beyond {
    say(&format!("names of ports are known within this job only: {why}"));
    Beyond::Refused(why)
}

/// How long an mpirun that serves others may take.
const PATIENCE: Duration = Duration::from_secs(5);
const TRIES: u32 = 100;
const OTHER: &str = "the mpirun that keeps the names of this user's jobs is of another version";

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(names: &mut Names, service: &str, port: &str) -> Option<Answer> {
        names.answer(1, Request::Publish(service.into(), port.into()))
    }

    /// Pumps all until somebody was answered.
    fn answered(all: &mut [Names]) -> (u64, Answer) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            if let Some(answer) = all.iter_mut().flat_map(Names::pump).next() {
                return answer;
            }
            assert!(std::time::Instant::now() < until, "nobody answers");
            opal_core::sys::nap_us(100);
        }
    }

    // Other mpiruns of this user may run at the same time, and may have the port: so the names here are of this process alone.
    #[test]
    fn names_are_found_in_other_universes_until_they_are_withdrawn() {
        let name = |what: &str| format!("{what} of {}", std::process::id());
        let mut all = [Names::default(), Names::default(), Names::default()];
        for (place, names) in (0..).zip(&mut all) {
            // Serving or asking, depending on who came first.
            let _ = publish(names, &name("each"), &format!("port {place}"));
        }
        while all.iter().any(|names| matches!(&names.beyond, Beyond::Asking(_, waiting) if !waiting.is_empty())) {
            all.iter_mut().for_each(|names| drop(names.pump()));
            opal_core::sys::nap_us(100);
        }
        // The own one comes first.
        for (place, names) in (0..).zip(&mut all) {
            let own = names.answer(5, Request::Lookup(name("each")));
            assert_eq!(own, Some(Answer::Port(format!("port {place}"))));
        }
        let again = publish(&mut all[1], &name("each"), "x");
        assert!(matches!(again, Some(Answer::Refused(why)) if why.contains("already")));
        if publish(&mut all[2], &name("one"), "far").is_none() {
            assert_eq!(answered(&mut all), (1, Answer::Done));
        }
        let look = |all: &mut [Names]| match all[1].answer(7, Request::Lookup(name("one"))) {
            Some(answer) => answer,
            None => answered(all).1,
        };
        assert_eq!(look(&mut all), Answer::Port("far".into()));
        // Whoever of these has the port ends: another one takes it, and the name is still there.
        all[0] = Names::default();
        // The others need a moment to tell it their names.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while look(&mut all) != Answer::Port("far".into()) {
            assert!(std::time::Instant::now() < until, "the name is lost");
            all.iter_mut().for_each(|names| drop(names.pump()));
            opal_core::sys::nap_us(100);
        }
        all[2] = Names::default();
        assert!(matches!(look(&mut all), Answer::Refused(why) if why.contains("not published")));
        assert!(matches!(all[1].answer(9, Request::Unpublish(name("one"))), Some(Answer::Refused(_))));
    }
}
