//! Names of ports: MPI_Publish_name, MPI_Unpublish_name, MPI_Lookup_name. Each universe has names of its own; those that are not
//! found there are looked for in all other ones of the user on this host.
//!
//! For that the mpiruns of a user need no server. The first one that uses names takes the user's port ([`Listener::of_user`]) and
//! answers the others, each of which tells it the names of its universe. When it ends, the port is free: the others see their connections
//! close, and one of them takes the port. Nothing lies in a file system, so nothing can be left there.

use crate::refusal::say;
use orte_core::port::{Channel, Listener};
use orte_core::universe::{Answer, Request};
use rustix::fd::BorrowedFd;
use std::collections::{BTreeMap, VecDeque};

type Ports = BTreeMap<String, String>;

/// The names that this universe knows.
#[derive(Default)]
pub struct Names {
    own: Ports,
    beyond: Beyond,
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
    Asking(Channel, VecDeque<(Option<u64>, Request)>),
    /// The system refuses it: the names are those of this universe.
    Refused(String),
}

impl Names {
    /// What to wait for, beside [`Names::descriptors`].
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        let (callers, server) = match &self.beyond {
            Beyond::Serving(_, callers) => (callers.as_slice(), None),
            Beyond::Asking(server, _) => (&[][..], Some(server)),
            Beyond::Unknown | Beyond::Refused(_) => (&[][..], None),
        };
        callers.iter().map(|(channel, _)| channel).chain(server)
    }

    /// What to wait for, beside [`Names::channels`].
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = match &self.beyond {
            Beyond::Serving(listener, _) => Some(listener),
            _ => None,
        };
        listener.into_iter().flat_map(Listener::descriptors)
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
        if matches!(self.beyond, Beyond::Unknown) {
            self.find_others(VecDeque::new());
        }
        match (&mut self.beyond, request) {
            (Beyond::Asking(server, waiting), request) => {
                // One that has ended is noticed in `pump`, which asks again.
                let _ = server.send(&request.encode());
                waiting.push_back((Some(client), request));
                None
            }
            (Beyond::Serving(_, callers), Request::Lookup(service)) => {
                // Names of mpiruns that have just ended are no longer there.
                serve(&self.own, callers);
                Some(found(callers, &service))
            }
            (Beyond::Refused(why), Request::Lookup(service)) => Some(Answer::Refused(format!(
                "the name `{service}` is not published in this job, and names of other jobs cannot be found: {why}"
            ))),
            _ => Some(Answer::Done),
        }
    }

    /// Hears other mpiruns. The answers that have come, and for whom.
    pub fn pump(&mut self) -> Vec<(u64, Answer)> {
        let mut answers = Vec::new();
        let own = &self.own;
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
                    Ok(None) => break None,
                    Ok(Some(frame)) => {
                        if let Some((Some(client), _)) = waiting.pop_front() {
                            answers.push((
                                client,
                                Answer::decode(&frame).unwrap_or_else(|_| Answer::Refused(OTHER.to_owned())),
                            ));
                        }
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
    fn find_others(&mut self, asked: VecDeque<(Option<u64>, Request)>) -> Vec<(u64, Answer)> {
        self.beyond = self.others();
        if let Beyond::Asking(server, waiting) = &mut self.beyond {
            // Names that were to be published are among the own ones by now; to say it twice does no harm.
            let of_own = self.own.iter().map(|(service, port)| (None, Request::Publish(service.clone(), port.clone())));
            for one in of_own.chain(asked) {
                let _ = server.send(&one.1.encode());
                waiting.push_back(one);
            }
            return Vec::new();
        }
        let answer = |request: Request| match request {
            Request::Lookup(service) => unknown(&service),
            _ => Answer::Done,
        };
        asked.into_iter().filter_map(|(client, request)| Some((client?, answer(request)))).collect()
    }

    fn others(&self) -> Beyond {
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

fn unknown(service: &str) -> Answer {
    Answer::Refused(format!("the name `{service}` is not published"))
}

fn refused(why: String) -> Beyond {
    say(&format!("names of ports are known within this job only: {why}"));
    Beyond::Refused(why)
}

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
