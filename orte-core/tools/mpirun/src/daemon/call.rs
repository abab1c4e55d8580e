//! How a daemon comes to trust mpirun, or the daemon that started it: it reads the invitation, calls, and gets its orders.

use super::greeting::{Greeting, HUNG_UP, Progress};
use crate::link::Link;
use crate::refusal::{OWN, Refusal};
use orte_core::oob::invitation::{LONGEST, Refused};
use orte_core::oob::{Calling, Frame, Invitation, JobOrders};
use orte_core::routed::envelope;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use rustix::thread::CpuSet;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// The hidden first argument that makes this program a daemon; an [`Invitation`] comes by standard input.
pub const ARGUMENT: &str = "--ompi-rs-daemon";
/// Both sides are of the same.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Reads the invitation from standard input, and finds the node that this daemon is.
pub fn invitation() -> Result<(Invitation, u32), Refusal> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Refusal::system("reading standard input of the daemon", errno)),
        }
        // Some agents keep it open.
        if bytes.len() > LONGEST || Invitation::is_complete(&String::from_utf8_lossy(&bytes)) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let invitation = Invitation::decode(&text, VERSION).map_err(|refused| {
        Refusal::usage(match refused {
            Refused::Cut if bytes.is_empty() => format!(
                "{} is for mpirun itself, which tells the daemon by standard input whom to call; an agent that passes none on \
                 (kubectl exec without -i) cannot be used",
                super::ARGUMENT
            ),
            Refused::Cut => "what mpirun told its daemon by standard input was cut off".to_owned(),
            Refused::Version(theirs) => format!(
                "the daemon on this host is ompi-rs {VERSION} ({}), and mpirun is ompi-rs {theirs}; install the same on both, or \
                 name another place with --prefix",
                std::env::current_exe().map_or_else(|_| "mpirun".to_owned(), |path| path.display().to_string())
            ),
            Refused::Line(line) => format!("standard input of the daemon is no invitation of mpirun's: `{line}`"),
        })
    })?;
    let slurm = std::env::var(SLURM_NAME).ok();
    if slurm.is_some() {
        use_all_processors();
    }
    let node = invitation.node_of(slurm.as_deref()).ok_or_else(|| {
        let name = slurm.unwrap_or_else(|| format!("not named by {SLURM_NAME}"));
        Refusal::usage(format!("srun started a daemon on a host that has no ranks: it is {name}"))
    })?;
    Ok((invitation, node))
}

/// Slurm binds the one task of a host to a core, where it binds tasks; the ranks want all that the allocation has there. Its
/// control group stays. srun's `--cpu-bind=none` would say the same, and srun complains of it where tasks are not bound.
fn use_all_processors() {
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|processor| all.set(processor));
    // What the system refuses stays as it is: fewer processors, and --display bind shows them.
    let _ = rustix::thread::sched_setaffinity(None, &all);
}

/// What a daemon hears when it has called.
pub struct Answer {
    /// The connection.
    pub link: Link,
    /// Where the other end listens.
    pub addresses: Vec<SocketAddr>,
    /// What to start.
    pub orders: JobOrders,
    /// The same as it came.
    pub bytes: Vec<u8>,
    /// What came right behind.
    pub behind: Vec<Vec<u8>>,
}

/// Calls whoever started this daemon, or whom mpirun names in its place, and gets the orders.
pub fn starter(invitation: &Invitation, node: u32) -> Result<Answer, Refusal> {
    let end = Instant::now() + Duration::from_millis(invitation.patience_ms);
    let mut link = call(invitation, node, end)?;
    let mut listening = invitation.addresses.clone();
    // mpirun itself sends nobody to a second place.
    let mut was_sent_on = false;
    loop {
        let news = link.receive();
        let mut payloads = news.payloads.into_iter();
        if let Some(bytes) = payloads.next() {
            let failed = || Refusal::system("hearing mpirun", "it did not begin with orders");
            let frame = envelope::open(&bytes).and_then(|(_, frame)| Frame::decode(frame)).map_err(|_| failed())?;
            return match frame {
                Frame::CallAt(addresses) if !was_sent_on => {
                    was_sent_on = true;
                    let addresses: Result<Vec<SocketAddr>, _> = addresses.iter().map(|text| text.parse()).collect();
                    let addresses =
                        addresses.map_err(|_| Refusal::system("hearing mpirun", "it named no addresses"))?;
                    listening.clone_from(&addresses);
                    link = call(&Invitation { addresses, ..invitation.clone() }, node, end)?;
                    continue;
                }
                Frame::Orders(orders) if orders.names.len() > node as usize => {
                    Ok(Answer { link, addresses: listening, orders: *orders, bytes, behind: payloads.collect() })
                }
                // The job ended before it began.
                Frame::Finish => Err(Refusal::nothing_to_do()),
                _ => Err(failed()),
            };
        }
        let lost = news.lost.or_else(|| news.broken.map(|errno| format!("the connection to it failed: {errno}")));
        let Some(socket) = link.socket().filter(|_| lost.is_none()) else {
            return Err(Refusal::system("hearing mpirun", lost.unwrap_or_default()));
        };
        wait(&[(&socket, PollFlags::IN)], end)?;
    }
}

/// The address that this host was reached from has a start; then all others at once, and the first one where mpirun answers is used.
/// Another machine may have the same address in a network of its own.
fn call(invitation: &Invitation, node: u32, end: Instant) -> Result<Link, Refusal> {
    let (mut tries, mut failures) = (Vec::new(), Vec::new());
    let (mut now, mut later) = in_order(&invitation.addresses, std::env::var(SSH_CONNECTION).ok().as_deref());
    let start = end.min(Instant::now() + HEAD_START);
    loop {
        if tries.is_empty() && now.is_empty() || Instant::now() >= start {
            now.append(&mut later);
        }
        for address in now.drain(..) {
            match begin(&address) {
                Ok(socket) => tries.push((socket, address)),
                Err(errno) => failures.push(format!("{address}: {errno}")),
            }
        }
        if tries.is_empty() && later.is_empty() || Instant::now() >= end {
            break;
        }
        let interests: Vec<(&OwnedFd, PollFlags)> = tries.iter().map(|(socket, _)| (socket, PollFlags::OUT)).collect();
        let answers = answers(&interests, if later.is_empty() { end } else { start })?;
        // Where several answer, the first one in that order.
        if let Some(index) = answers.iter().position(|answers| *answers) {
            let (socket, address) = tries.remove(index);
            let proven = match sockopt::socket_error(&socket) {
                Ok(Ok(())) => prove(invitation, node, socket, end.min(Instant::now() + ANSWER)),
                Ok(Err(errno)) | Err(errno) => Err(Refusal::usage(errno.to_string())),
            };
            match proven {
                Ok(link) => return Ok(link),
                Err(refusal) => failures.push(format!("{address}: {}", refusal.sentence)),
            }
        }
    }
    // The network is as it should be, and mpirun says why the job ended.
    if failures.iter().any(|failure| failure.ends_with(HUNG_UP)) {
        return Err(Refusal { status: OWN, sentence: "mpirun ended the job before this host had joined it".into() });
    }
    failures.extend(tries.iter().map(|(_, address)| format!("{address}: no answer")));
    Err(Refusal {
        status: OWN,
        sentence: format!(
            "the daemon on this host cannot reach mpirun, or the daemon that started it, by TCP ({}); --mca oob_tcp_if_include names the \
             interfaces that these listen on",
            failures.join(", ")
        ),
    })
}

/// Which addresses to try at once, and which a little later: first the one from which ssh came, if mpirun listens there. The network
/// between is the one that the user keeps in order. sshd(8): SSH_CONNECTION has the client's address and port, and the server's.
fn in_order(addresses: &[SocketAddr], ssh_connection: Option<&str>) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
    let client = ssh_connection.and_then(|text| text.split(' ').next()?.parse::<IpAddr>().ok());
    let (reached, others): (Vec<_>, Vec<_>) =
        addresses.iter().partition(|address| client.is_some_and(|client| client.to_canonical() == address.ip()));
    if reached.is_empty() { (others, reached) } else { (reached, others) }
}

/// A socket on its way there.
pub fn begin(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno),
    }
}

fn prove(invitation: &Invitation, node: u32, socket: OwnedFd, end: Instant) -> Result<Link, Refusal> {
    let failed = |why: &dyn std::fmt::Display| Refusal::system("calling mpirun", why);
    let nonce = opal_core::sys::random().map_err(|errno| failed(&errno))?;
    let calling = Calling::new(invitation.secret, node, nonce);
    let silence = Duration::from_millis(invitation.silence_ms);
    let mut greeting = Greeting::begin(socket, calling, silence).map_err(|failure| failed(&failure))?;
    loop {
        wait(&[(&greeting.socket(), PollFlags::IN)], end)?;
        greeting = match greeting.advance().map_err(|failure| failed(&failure))? {
            Progress::Done(wire, _) => return Ok(Link::new(wire)),
            Progress::Waiting(_) if Instant::now() >= end => return Err(failed(&"it does not answer")),
            Progress::Waiting(greeting) => greeting,
        };
    }
}

/// Until one of them is ready. `Err` if it is too late.
fn wait<Fd: AsFd>(interests: &[(&Fd, PollFlags)], end: Instant) -> Result<(), Refusal> {
    let answers = answers(interests, end)?;
    if Instant::now() >= end && !answers.contains(&true) {
        return Err(Refusal::system("calling mpirun", "it does not answer"));
    }
    Ok(())
}

/// The same without complaint.
fn answers<Fd: AsFd>(interests: &[(&Fd, PollFlags)], end: Instant) -> Result<Vec<bool>, Refusal> {
    let mut polls: Vec<PollFd<'_>> = interests.iter().map(|(fd, flags)| PollFd::new(*fd, *flags)).collect();
    let left = end.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    match rustix::event::poll(&mut polls, Some(&left)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(Refusal::system("waiting for mpirun", errno)),
    }
    Ok(polls.iter().map(|poll| !poll.revents().is_empty()).collect())
}

/// What Slurm calls the host of a task.
const SLURM_NAME: &str = "SLURMD_NODENAME";
/// Where sshd says who logged in, and from where.
const SSH_CONNECTION: &str = "SSH_CONNECTION";
/// By how much the address that ssh came from is tried before the others.
const HEAD_START: Duration = Duration::from_millis(300);
/// How long whoever listens at one of mpirun's addresses may take to answer, if there are others.
const ANSWER: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_that_ssh_came_from_is_called_first() {
        let addresses: Vec<SocketAddr> =
            ["10.1.0.1:7", "10.2.0.1:8", "[fd00::1]:9"].map(|text| text.parse().unwrap()).to_vec();
        let order = |said: Option<&str>| {
            let (now, later) = in_order(&addresses, said);
            [now, later].map(|all| all.iter().map(SocketAddr::port).collect::<Vec<u16>>())
        };
        assert_eq!(order(Some("10.2.0.1 40000 10.2.0.2 22")), [vec![8], vec![7, 9]]);
        assert_eq!(order(Some("::ffff:10.2.0.1 40000 ::ffff:10.2.0.2 22")), [vec![8], vec![7, 9]]);
        assert_eq!(order(Some("fd00::1 40000 fd00::2 22")), [vec![9], vec![7, 8]]);
        // Through another host, or not by ssh.
        for elsewhere in [Some("10.9.0.1 40000 10.2.0.2 22"), Some("fe80::1%eth0 1 fe80::2 22"), Some(""), None] {
            assert_eq!(order(elsewhere), [vec![7, 8, 9], vec![]], "{elsewhere:?}");
        }
    }
}
