//! `--host`, `--hostfile` and the allocation of a resource manager: the hosts of a job, and how many ranks each has room for.

use crate::own_host::is_here;
use crate::refusal::Refusal;
use orte_core::allocation::{self, Surroundings};
use orte_core::rmaps::Room;
use orte_core::segment::layout::RANKS_MAX;
use std::path::PathBuf;

/// A host that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// As it was named first.
    pub name: String,
    /// How many ranks it has room for.
    pub room: Room,
    /// Lines that name it without a number of slots: one each, where there are several.
    uncounted: u32,
    /// It is the one that mpirun runs on.
    pub is_here: bool,
}

impl Host {
    /// This one, with room for so many ranks.
    pub fn own(slots: u32) -> Host {
        Host { name: opal_core::sys::hostname(), room: Room { slots, most: None }, uncounted: 0, is_here: true }
    }

    /// One that was named, with room for so many ranks.
    pub fn called(name: &str, slots: u32, from: &str) -> Result<Host, Refusal> {
        host(name, Room { slots, most: None }, from)
    }

    /// Both are the same host.
    pub fn is_same(&self, other: &Host) -> bool {
        self.name == other.name || (self.is_here && other.is_here)
    }
}

/// A host that further jobs may run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRoom {
    name: String,
    slots: u32,
    /// Slots that no rank of the first job has.
    free: u32,
}

impl HostRoom {
    /// As `--host` has them: first those that have free slots, then the others, which are next when these are full.
    pub fn free_first(all: &[HostRoom]) -> String {
        let free = all.iter().filter(|host| host.free > 0).map(|host| (&host.name, host.free));
        let full = all.iter().filter(|host| host.free == 0).map(|host| (&host.name, host.slots));
        let word = |(name, slots): (&String, u32)| match name.contains(':') {
            // An address: what follows a colon is a part of it.
            true => vec![name.clone(); slots as usize].join(","),
            false => format!("{name}:{slots}"),
        };
        free.chain(full).map(word).collect::<Vec<_>>().join(",")
    }
}

/// The room that a job leaves on its hosts: `map` has the host of each rank. Empty if there is none but this one.
pub fn rooms(hosts: &[Host], map: &[u32]) -> Vec<HostRoom> {
    if hosts.iter().all(|host| host.is_here) {
        return Vec::new();
    }
    let ranks = |place: usize| map.iter().filter(|host| **host as usize == place).count() as u32;
    let room = |(place, host): (usize, &Host)| HostRoom {
        name: host.name.clone(),
        slots: host.room.slots,
        free: host.room.slots.saturating_sub(ranks(place)),
    };
    hosts.iter().enumerate().map(room).collect()
}

/// The hosts of an allocation in which nothing runs yet; none if there is none, or if it has only this one.
pub fn of_allocation() -> Result<Vec<HostRoom>, Refusal> {
    Ok(rooms(&allocated(&Own)?.unwrap_or_default(), &[]))
}

/// The hosts that options and files name together, in the order of first mention; `None` if they name none, as files may do
/// where that is said.
pub fn named(hosts: &[String], files: &[PathBuf], may_be_empty: bool) -> Result<Option<Vec<Host>>, Refusal> {
    let all = together(mentions(hosts, files, may_be_empty, &Own)?);
    Ok(if all.is_empty() { None } else { Some(all) })
}

/// The same for one rank after the other (`--map-by seq`): a line of a file is one rank, a word of `--host` as many as its slots.
/// The hosts, and the place among them of each rank.
pub fn sequence(hosts: &[String], files: &[PathBuf]) -> Result<(Vec<Host>, Vec<u32>), Refusal> {
    let mentions = mentions(hosts, files, false, &Own)?;
    let mut order = Vec::new();
    let mut all: Vec<Host> = Vec::new();
    for (index, host) in mentions.into_iter().enumerate() {
        let ranks = if index < words(hosts).count() { host.room.slots } else { 1 };
        let place = all.iter().position(|known| known.is_same(&host)).unwrap_or_else(|| {
            all.push(host);
            all.len() - 1
        });
        order.extend((0..ranks.min(RANKS_MAX)).map(|_| place as u32));
    }
    Ok((all, order))
}

/// Each time that a host is named: by `--host`, then by files.
fn mentions(
    hosts: &[String],
    files: &[PathBuf],
    may_be_empty: bool,
    surroundings: &impl Surroundings,
) -> Result<Vec<Host>, Refusal> {
    let given = || allocated(surroundings).map(Option::unwrap_or_default);
    let mut of_files = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Refusal::usage(format!("--hostfile {}: {error}", path.display())))?;
        let before = of_files.len();
        for (index, line) in text.lines().enumerate() {
            let from = format!("{}, line {}", path.display(), index + 1);
            match line.trim_start().starts_with('+') {
                true => relative(line.split('#').next().unwrap_or_default().trim(), &given()?, &mut of_files, &from)?,
                false => of_files.extend(of_line(line, &from)?),
            }
        }
        if of_files.len() == before && !may_be_empty {
            return Err(Refusal::usage(format!("--hostfile {} names no host", path.display())));
        }
    }
    // Counted hosts are those of the files, which then name nobody else.
    let is_relative = words(hosts).any(|word| word.starts_with('+'));
    let base = match (is_relative, of_files.is_empty()) {
        (false, _) => Vec::new(),
        (true, false) => together(std::mem::take(&mut of_files)),
        (true, true) => given()?,
    };
    let mut all = Vec::new();
    for word in words(hosts) {
        let from = format!("--host {word}");
        if word.starts_with('+') {
            relative(word, &base, &mut all, &from)?;
            continue;
        }
        let (name, slots) = part(word);
        let slots = slots.map_or(Ok(1), |slots| number(slots, &from))?;
        all.push(host(name, Room { slots, most: None }, &from)?);
    }
    all.append(&mut of_files);
    Ok(all)
}

fn words(hosts: &[String]) -> impl Iterator<Item = &str> {
    hosts.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|word| !word.is_empty())
}

/// `+n1` is the second one of the hosts in `base`, `+e` all that are not among `all` yet, `+e:2` two of them.
fn relative(word: &str, base: &[Host], all: &mut Vec<Host>, from: &str) -> Result<(), Refusal> {
    let (name, count) = part(word);
    if base.is_empty() {
        return Err(Refusal::usage(format!(
            "{from}: `{name}` counts the hosts of an allocation or of --hostfile, and there are none"
        )));
    }
    let count = count.map(|count| number(count, from)).transpose()?;
    let last = base.len() - 1;
    if name.eq_ignore_ascii_case("+e") {
        let free = base.iter().filter(|host| !all.iter().any(|known| known.is_same(host)));
        let free: Vec<Host> = free.take(count.map_or(usize::MAX, |count| count as usize)).cloned().collect();
        let wanted = count.unwrap_or(1) as usize;
        if free.len() < wanted {
            return Err(Refusal::usage(format!("{from}: {wanted} free hosts are wanted, and {} are left", free.len())));
        }
        all.extend(free);
        return Ok(());
    }
    let index = name.strip_prefix("+n").or_else(|| name.strip_prefix("+N")).and_then(|index| index.parse().ok());
    let one = index.and_then(|index: usize| base.get(index)).ok_or_else(|| {
        Refusal::usage(format!(
            "{from}: `{name}` is no host; +n0 to +n{last} are there, and +e or +e:N for those that are free"
        ))
    })?;
    let room = Room { slots: count.unwrap_or(one.room.slots), ..one.room };
    all.push(Host { room, ..one.clone() });
    Ok(())
}

fn together(mentions: Vec<Host>) -> Vec<Host> {
    let mut all = Vec::new();
    mentions.into_iter().for_each(|host| add(&mut all, host));
    all
}

/// The hosts that a resource manager gave; `None` if there is no manager.
pub fn allocated(surroundings: &impl Surroundings) -> Result<Option<Vec<Host>>, Refusal> {
    let allocation = allocation::allocation(surroundings).map_err(|why| {
        Refusal::usage(format!("{why}; `--host localhost:N` starts N ranks on this machine without it"))
    })?;
    let Some((manager, hosts)) = allocation else { return Ok(None) };
    let mut all = Vec::new();
    for given in hosts {
        add(&mut all, host(&given.name, Room { slots: given.slots, most: None }, manager.name())?);
    }
    Ok(Some(all))
}

fn host(name: &str, room: Room, from: &str) -> Result<Host, Refusal> {
    // What begins with a dash would be an option of ssh.
    let is_name = !name.is_empty() && !name.starts_with('-') && name.bytes().all(|byte| byte.is_ascii_graphic());
    match is_name {
        true => Ok(Host { name: name.to_owned(), room, uncounted: 0, is_here: is_here(name) }),
        false => Err(Refusal::usage(format!("{from}: `{name}` is no name of a host"))),
    }
}

/// A host may be named several times; its slots add up.
fn add(all: &mut Vec<Host>, host: Host) {
    match all.iter_mut().find(|known| known.is_same(&host)) {
        Some(known) => {
            let counted = |host: &Host| if host.uncounted > 0 { host.uncounted } else { host.room.slots };
            known.room.slots = counted(known).saturating_add(counted(&host));
            known.uncounted = if known.uncounted > 0 && host.uncounted > 0 { known.room.slots } else { 0 };
            known.room.most = known.room.most.zip(host.room.most).map(|(one, other)| one.saturating_add(other));
        }
        None => all.push(host),
    }
}

/// This process's own variables and files.
pub struct Own;

impl Surroundings for Own {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        match std::fs::metadata(path) {
            Ok(data) if !data.is_file() => Err("it is not a regular file".into()),
            Ok(data) if data.len() > FILE_MAX => Err(format!("it is longer than {FILE_MAX} bytes")),
            Ok(_) => std::fs::read_to_string(path).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A list of hosts is not longer.
const FILE_MAX: u64 = 64 << 20;
/// `name slots=N max_slots=N # comment`, or MPICH's `name:N`.
pub fn of_line(line: &str, from: &str) -> Result<Option<Host>, Refusal> {
    // Spaces around the sign are Open MPI's habit.
    let text = line.split('#').next().unwrap_or_default().split('=').map(str::trim).collect::<Vec<_>>().join("=");
    let mut words = text.split_whitespace();
    let Some(word) = words.next() else { return Ok(None) };
    let (name, after_colon) = part(word);
    let mut slots = after_colon.map(|slots| number(slots, from)).transpose()?;
    let (mut most, mut user) = (None, None);
    for word in words {
        match word.split_once('=') {
            Some(("slots" | "cpu" | "count", count)) => slots = Some(number(count, from)?),
            Some(("max_slots" | "max-slots", count)) => most = Some(number(count, from)?),
            Some(("username" | "user", name)) => user = Some(name),
            _ => return Err(Refusal::usage(format!("{from}: `{word}` is not known; write HOST slots=N"))),
        }
    }
    let name = user.map_or_else(|| name.to_owned(), |user| format!("{user}@{name}"));
    // Of another host nobody knows how many cores it has before it is asked.
    let default = || if is_here(&name) { opal_core::sys::cores() as u32 } else { 1 };
    let host = host(&name, Room { slots: slots.or(most).unwrap_or_else(default), most }, from)?;
    Ok(Some(Host { uncounted: u32::from(slots.or(most).is_none()), ..host }))
}

/// Name and slots. The colons of an address such as `::1` part nothing; with slots it is `[::1]:2`.
fn part(word: &str) -> (&str, Option<&str>) {
    if let Some((address, after)) = word.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && address.parse::<std::net::Ipv6Addr>().is_ok()
        && (after.is_empty() || after.starts_with(':'))
    {
        // Programs such as ssh want it without the brackets.
        return (address, after.strip_prefix(':'));
    }
    match word.split_once(':') {
        Some((name, slots)) if !name.is_empty() && !slots.contains(':') => (name, Some(slots)),
        _ => (word, None),
    }
}

fn number(text: &str, from: &str) -> Result<u32, Refusal> {
    match text {
        "*" => Ok(opal_core::sys::cores() as u32),
        _ => text
            .parse()
            .ok()
            .filter(|slots| *slots > 0)
            .ok_or_else(|| Refusal::usage(format!("{from}: `{text}` is no number of slots"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_jobs_run_where_there_is_room_first() {
        let hosts = |list: &str| together(mentions(&[list.to_owned()], &[], false, &Own).unwrap());
        assert_eq!(rooms(&hosts("localhost:2"), &[0]), []);
        let rooms = rooms(&hosts("a.invalid:2,b.invalid:1,fd00::1"), &[0, 1]);
        assert_eq!(HostRoom::free_first(&rooms), "a.invalid:1,fd00::1,b.invalid:1");
    }

    #[test]
    fn lines_of_a_hostfile() {
        let line = |text| of_line(text, "f, line 1");
        let room = |text| line(text).unwrap().map(|host| (host.name, host.room.slots, host.room.most, host.is_here));
        let cores = opal_core::sys::cores() as u32;
        assert_eq!(room("localhost slots=4 max_slots=8 # mine"), Some(("localhost".to_owned(), 4, Some(8), true)));
        assert_eq!(room("127.0.0.1:3"), Some(("127.0.0.1".to_owned(), 3, None, true)));
        assert_eq!(room("::1"), Some(("::1".to_owned(), cores, None, true)));
        assert_eq!(room("node17.invalid user=me"), Some(("me@node17.invalid".to_owned(), 1, None, false)));
        assert_eq!(room("node17.invalid max_slots=3"), Some(("node17.invalid".to_owned(), 3, Some(3), false)));
        assert_eq!(room("  # nothing"), None);
        for spaced in ["node17.invalid slots = 2", "node17.invalid slots =2", "node17.invalid\tslots= 2 # mine = 3"] {
            assert_eq!(room(spaced), Some(("node17.invalid".to_owned(), 2, None, false)), "{spaced}");
        }
        assert_eq!(room("[fd00::17]:3"), Some(("fd00::17".to_owned(), 3, None, false)));
        assert_eq!(room("[fd00::17] slots=2"), Some(("fd00::17".to_owned(), 2, None, false)));
        assert_eq!(room("[::1]"), Some(("::1".to_owned(), cores, None, true)));
        for (text, words) in [
            ("localhost slots=many", "`many`"),
            ("localhost slot", "`slot`"),
            ("localhost slots=0", "`0`"),
            ("localhost slots=", "`` is no number"),
            ("[::1]:x", "`x`"),
            ("-oProxyCommand=x slots=2", "no name of a host"),
        ] {
            let sentence = line(text).unwrap_err().sentence;
            assert!(sentence.contains(words) && sentence.contains("f, line 1"), "{text}: {sentence}");
        }
    }

    #[test]
    fn lines_that_name_a_host_again() {
        let slots = |lines: &[&str]| {
            let mut all = Vec::new();
            lines.iter().for_each(|text| add(&mut all, of_line(text, "f").unwrap().unwrap()));
            assert_eq!(all.len(), 1);
            all[0].room.slots
        };
        assert_eq!(slots(&["localhost"]), opal_core::sys::cores() as u32);
        assert_eq!(slots(&["localhost", "localhost"]), 2);
        assert_eq!(slots(&["localhost", "localhost", "127.0.0.1"]), 3);
        assert_eq!(slots(&["localhost slots=4", "localhost"]), 5);
        assert_eq!(slots(&["localhost", "localhost slots=4"]), 5);
        assert_eq!(slots(&["localhost slots=4", "localhost slots=2"]), 6);
    }

    struct Given(Vec<(&'static str, String)>);

    impl Surroundings for Given {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        }

        fn file(&self, _path: &str) -> Result<String, String> {
            Err("there is no such file".into())
        }
    }

    #[test]
    fn an_allocation_says_how_many_ranks_there_are() {
        let slurm = |hosts: &str, tasks: &str| {
            allocated(&Given(vec![
                ("SLURM_JOB_ID", "7".into()),
                ("SLURM_JOB_NODELIST", hosts.into()),
                ("SLURM_TASKS_PER_NODE", tasks.into()),
            ]))
        };
        let own = slurm(&opal_core::sys::hostname(), "3").unwrap().unwrap();
        assert_eq!((own.len(), own[0].is_here, own[0].room.slots), (1, true, 3));
        assert_eq!(allocated(&Given(Vec::new())).unwrap(), None);
        let others = slurm("elsewhere[1-9]", "2(x9)").unwrap().unwrap();
        assert_eq!((others.len(), others[8].name.as_str(), others[8].room.slots), (9, "elsewhere9", 2));
        let sentence = slurm("n1,n2", "2").unwrap_err().sentence;
        assert!(sentence.contains("SLURM_TASKS_PER_NODE") && sentence.contains("--host localhost:N"), "{sentence}");
        let pbs = Given(vec![("PBS_JOBID", "7".into()), ("PBS_NODEFILE", "/gone".into())]);
        assert!(allocated(&pbs).unwrap_err().sentence.contains("/gone"));
    }

    #[test]
    fn hosts_that_are_counted() {
        let slurm = Given(vec![
            ("SLURM_JOB_ID", "7".into()),
            ("SLURM_JOB_NODELIST", "elsewhere[1-4]".into()),
            ("SLURM_TASKS_PER_NODE", "2(x3),5".into()),
        ]);
        let names = |list: &str| -> Result<Vec<String>, Refusal> {
            let hosts = together(mentions(&[list.to_owned()], &[], false, &slurm)?);
            Ok(hosts.into_iter().map(|host| format!("{}:{}", host.name, host.room.slots)).collect())
        };
        assert_eq!(names("+n3,+n0:1").unwrap(), ["elsewhere4:5", "elsewhere1:1"]);
        assert_eq!(names("+n1,+e:2").unwrap(), ["elsewhere2:2", "elsewhere1:2", "elsewhere3:2"]);
        assert_eq!(names("elsewhere1,+e").unwrap().len(), 4);
        for (list, words) in [("+n4", "+n0 to +n3"), ("+x", "+n0 to +n3"), ("+e:5", "4 are left"), ("+n0,+n", "`+n`")] {
            assert!(names(list).unwrap_err().sentence.contains(words), "{list}");
        }
        let nobody = mentions(&["+n0".to_owned()], &[], false, &Given(Vec::new())).unwrap_err().sentence;
        assert!(nobody.contains("--host +n0") && nobody.contains("there are none"), "{nobody}");
    }

    #[test]
    fn one_rank_after_the_other() {
        let (hosts, order) = sequence(&["b.invalid:2,localhost,b.invalid".to_owned()], &[]).unwrap();
        assert_eq!((hosts.len(), hosts[1].is_here, order), (2, true, vec![0, 0, 1, 0]));
    }

    #[test]
    fn this_machine_by_its_name() {
        let own = opal_core::sys::hostname();
        let hosts =
            named(&[format!("{own}:2,localhost"), "elsewhere.invalid".to_owned()], &[], false).unwrap().unwrap();
        assert_eq!((hosts.len(), hosts[0].is_here, hosts[0].room.slots, hosts[1].is_here), (2, true, 3, false));
        assert_eq!(named(&[], &[], false).unwrap(), None);
        assert!(named(&["-oProxyCommand=x".to_owned()], &[], false).is_err());
    }
}
