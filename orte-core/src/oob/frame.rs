//! What mpirun and a daemon say once they trust each other. Ranks are ranks of the job.

use super::OobFlaw;
use super::bytes::{Reader, Writer};
use super::orders::JobOrders;
use crate::framework::ess::Needed;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Whoever a daemon called: what to start. The first one.
    Orders(Box<JobOrders>),
    /// mpirun: send this signal to the host's ranks, or to every process below its keeper.
    Signal(u32, bool),
    /// mpirun: kill what is left, then end.
    Finish,
    /// mpirun: standard input for the ranks that read it; empty: there is no more.
    Input(Vec<u8>),
    /// mpirun: so many more bytes of output may be sent.
    Room(u32),
    /// mpirun: nobody reads this stream of this rank any more (0: output, 1: error).
    Unread(u32, u8),
    /// mpirun: send this rank this signal, because it is to end while others go on.
    End(u32, u32),
    /// mpirun: a rank of another host was lost.
    LostElsewhere(u32),
    /// Either side: a message of the wire-up, opaque here.
    Modex(Vec<u8>),
    /// mpirun: say of the ranks how long they have waited for others (0), or what they do (1), with the functions (2).
    Ask(u8),
    /// mpirun: the caller's parent in the tree listens at these addresses; call there.
    CallAt(Vec<String>),
    /// Daemon: where it listens for daemons below it that it does not start itself.
    Entrance(Vec<String>),
    /// Daemon: the daemon of this node, which it started, has called.
    Joined(u32),
    /// Daemon: nothing more is heard of the daemon of this node, which it started; why, as half a sentence.
    HostLost(u32, String),
    /// Daemon: the connection to the daemon of this node, which it started, broke and goes on; between which addresses.
    Resumed(u32, String),
    /// Daemon: the agent that it started for this node ended with this wait status; or none could be started, for this reason.
    AgentEnded(u32, i32, Option<String>),
    /// Daemon: this rank runs as this process.
    Started(u32, u32),
    /// Daemon: the job cannot go on on this host: mpirun's exit status, and why.
    Refused(u8, String),
    /// Daemon: this rank ended.
    Ended(RankEnd),
    /// Daemon: this rank called abort, and may not have ended: its status and message, and whether it had lost a peer before.
    Aborted(u32, i32, String, bool),
    /// Daemon: a rank is in this state of its life.
    State(u32, u32),
    /// Daemon: what a rank wrote (0: output, 1: error); empty: the stream has ended.
    Output(u32, u8, Vec<u8>),
    /// Daemon: so many more bytes of input may be sent.
    InputRoom(u32),
    /// Daemon: nobody here reads standard input any more.
    InputUnread,
    /// Daemon: its keeper ended with this wait status, and all ranks with it.
    KeeperLost(i32),
    /// Daemon: a rank has waited in vain since this time of its host's clock, and for so long, both in ns.
    Waits(u32, u64, u64),
    /// Daemon: what a rank does, for people, without whom its wait does not end, and the functions that it is in.
    Doing(u32, String, Needed, Vec<String>),
    /// Daemon: what a rank that ends has counted, and how long before its end that was, in ns.
    Told(u32, u64, String),
    /// Daemon: a line for people.
    Say(String),
    /// Daemon: nothing of the job is left on this host. The last one.
    Gone,
    /// Either side: it is alive.
    Beat,
}

/// How a rank ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankEnd {
    /// Rank in the job.
    pub rank: u32,
    /// As waitpid gives it.
    pub wait_status: i32,
    /// What it was to MPI then.
    pub state: u32,
    /// With which status and message it called abort, if it did.
    pub aborted: Option<(i32, String)>,
    /// A call of it had failed because a peer was lost.
    pub has_lost_peer: bool,
}

impl Frame {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u8(self.kind());
        match self {
            Frame::Orders(orders) => orders.write(&mut to),
            Frame::Signal(signal, all) => {
                to.u32(*signal);
                to.u8(u8::from(*all));
            }
            Frame::Input(bytes) | Frame::Modex(bytes) => to.bytes(bytes),
            Frame::Room(bytes) | Frame::InputRoom(bytes) => to.u32(*bytes),
            Frame::Unread(rank, stream) => {
                to.u32(*rank);
                to.u8(*stream);
            }
            Frame::LostElsewhere(number) | Frame::Joined(number) => to.u32(*number),
            Frame::HostLost(node, text) | Frame::Resumed(node, text) => {
                to.u32(*node);
                to.bytes(text.as_bytes());
            }
            Frame::AgentEnded(node, status, why) => {
                to.u32(*node);
                to.u32(*status as u32);
                to.option(why.as_ref(), |to, why| to.bytes(why.as_bytes()));
            }
            Frame::Started(rank, value) | Frame::State(rank, value) | Frame::End(rank, value) => {
                to.u32(*rank);
                to.u32(*value);
            }
            Frame::Refused(status, sentence) => {
                to.u8(*status);
                to.bytes(sentence.as_bytes());
            }
            Frame::Ended(end) => end.write(&mut to),
            Frame::Aborted(rank, status, message, has_lost_peer) => {
                to.u32(*rank);
                to.u32(*status as u32);
                to.bytes(message.as_bytes());
                to.u8(u8::from(*has_lost_peer));
            }
            Frame::Output(rank, stream, bytes) => {
                to.u32(*rank);
                to.u8(*stream);
                to.bytes(bytes);
            }
            Frame::CallAt(all) | Frame::Entrance(all) => to.list(all, |to, one| to.bytes(one.as_bytes())),
            Frame::KeeperLost(status) => to.u32(*status as u32),
            Frame::Ask(question) => to.u8(*question),
            Frame::Waits(rank, since_ns, waited_ns) => {
                to.u32(*rank);
                to.u64(*since_ns);
                to.u64(*waited_ns);
            }
            Frame::Doing(rank, text, needed, functions) => {
                to.u32(*rank);
                to.bytes(text.as_bytes());
                write_needed(*needed, &mut to);
                to.list(functions, |to, function| to.bytes(function.as_bytes()));
            }
            Frame::Told(rank, age_ns, words) => {
                to.u32(*rank);
                to.u64(*age_ns);
                to.bytes(words.as_bytes());
            }
            Frame::Say(line) => to.bytes(line.as_bytes()),
            Frame::Finish | Frame::InputUnread | Frame::Gone | Frame::Beat => {}
        }
        to.0
    }

    /// The same from bytes of unknown origin.
    pub fn decode(bytes: &[u8]) -> Result<Frame, OobFlaw> {
        let mut from = Reader(bytes);
        let frame = match from.u8()? {
            1 => Frame::Orders(Box::new(JobOrders::read(&mut from)?)),
            2 => Frame::Signal(from.u32()?, from.flag("signal")?),
            3 => Frame::Finish,
            4 => Frame::Input(from.bytes()?),
            5 => Frame::Room(from.u32()?),
            6 => Frame::Unread(from.u32()?, stream(&mut from)?),
            7 => Frame::LostElsewhere(from.u32()?),
            8 => Frame::Modex(from.bytes()?),
            9 => Frame::Started(from.u32()?, from.u32()?),
            10 => Frame::Refused(from.u8()?, from.text("sentence")?),
            11 => Frame::Ended(RankEnd::read(&mut from)?),
            12 => Frame::Aborted(from.u32()?, from.u32()? as i32, from.text("message")?, from.flag("lost_peer")?),
            13 => Frame::State(from.u32()?, from.u32()?),
            14 => Frame::Output(from.u32()?, stream(&mut from)?, from.bytes()?),
            15 => Frame::InputRoom(from.u32()?),
            16 => Frame::InputUnread,
            17 => Frame::KeeperLost(from.u32()? as i32),
            18 => Frame::Say(from.text("line")?),
            GONE => Frame::Gone,
            20 => Frame::Beat,
            21 => Frame::Ask(question(&mut from)?),
            22 => Frame::Waits(from.u32()?, from.u64()?, from.u64()?),
            23 => Frame::Doing(
                from.u32()?,
                from.text("doing")?,
                Needed::of_words(from.u64()?, from.u32()?).ok_or(OobFlaw::Field("process waited for"))?,
                from.list(|from| from.text("function"))?,
            ),
            24 => Frame::Joined(from.u32()?),
            25 => Frame::HostLost(from.u32()?, from.text("reason")?),
            26 => Frame::AgentEnded(from.u32()?, from.u32()? as i32, from.option(|from| from.text("reason"))?),
            27 => Frame::Told(from.u32()?, from.u64()?, from.text("statistics")?),
            28 => Frame::End(from.u32()?, from.u32()?),
            29 => Frame::CallAt(from.list(|from| from.text("address"))?),
            30 => Frame::Entrance(from.list(|from| from.text("address"))?),
            31 => Frame::Resumed(from.u32()?, from.text("addresses")?),
            _ => return Err(OobFlaw::Field("kind")),
        };
        from.end()?;
        Ok(frame)
    }

    /// Whether these are the bytes of [`Frame::Gone`].
    pub fn is_gone(bytes: &[u8]) -> bool {
        bytes == [GONE]
    }

    fn kind(&self) -> u8 {
        match self {
            Frame::Orders(_) => 1,
            Frame::Signal(..) => 2,
            Frame::Finish => 3,
            Frame::Input(_) => 4,
            Frame::Room(_) => 5,
            Frame::Unread(..) => 6,
            Frame::LostElsewhere(_) => 7,
            Frame::Modex(_) => 8,
            Frame::Started(..) => 9,
            Frame::Refused(..) => 10,
            Frame::Ended(_) => 11,
            Frame::Aborted(..) => 12,
            Frame::State(..) => 13,
            Frame::Output(..) => 14,
            Frame::InputRoom(_) => 15,
            Frame::InputUnread => 16,
            Frame::KeeperLost(_) => 17,
            Frame::Say(_) => 18,
            Frame::Gone => GONE,
            Frame::Beat => 20,
            Frame::Ask(_) => 21,
            Frame::Waits(..) => 22,
            Frame::Doing(..) => 23,
            Frame::Joined(_) => 24,
            Frame::HostLost(..) => 25,
            Frame::AgentEnded(..) => 26,
            Frame::Told(..) => 27,
            Frame::End(..) => 28,
            Frame::CallAt(_) => 29,
            Frame::Entrance(_) => 30,
            Frame::Resumed(..) => 31,
        }
    }
}

fn write_needed(needed: Needed, to: &mut Writer) {
    let (job, rank) = needed.to_words();
    to.u64(job);
    to.u32(rank);
}

impl RankEnd {
    fn write(&self, to: &mut Writer) {
        to.u32(self.rank);
        to.u32(self.wait_status as u32);
        to.u32(self.state);
        to.option(self.aborted.as_ref(), |to, (status, message)| {
            to.u32(*status as u32);
            to.bytes(message.as_bytes());
        });
        to.u8(u8::from(self.has_lost_peer));
    }

    fn read(from: &mut Reader<'_>) -> Result<RankEnd, OobFlaw> {
        Ok(RankEnd {
            rank: from.u32()?,
            wait_status: from.u32()? as i32,
            state: from.u32()?,
            aborted: from.option(|from| Ok((from.u32()? as i32, from.text("message")?)))?,
            has_lost_peer: from.flag("lost_peer")?,
        })
    }
}

fn stream(from: &mut Reader<'_>) -> Result<u8, OobFlaw> {
    from.flag("stream").map(u8::from)
}

fn question(from: &mut Reader<'_>) -> Result<u8, OobFlaw> {
    Some(from.u8()?).filter(|question| *question <= 2).ok_or(OobFlaw::Field("question"))
}

const GONE: u8 = 19;
