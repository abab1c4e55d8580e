//! Events of all ranks in the format of chrome://tracing: a process for each rank.

use crate::report::quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The document, and how many events were dropped.
pub fn of(ranks: &[Vec<u8>]) -> (String, u64) {
    let texts: Vec<String> = ranks.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let first_ns = texts.iter().flat_map(|text| text.lines().filter_map(begin)).min().unwrap_or(0);
    let (mut events, mut all_dropped) = (Vec::new(), 0);
    for text in &texts {
        let mut rank = "0";
        for line in text.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells[..] {
                ["rank", own, host, dropped] => {
                    rank = own;
                    let dropped: u64 = dropped.parse().unwrap_or(0);
                    all_dropped += dropped;
                    let name = quoted(&format!("rank {rank} on {host}"));
                    events.push(format!(r#"{{"name":"process_name","ph":"M","pid":{rank},"args":{{"name":{name},"dropped":{dropped}}}}}"#));
                }
                ["dropped", since, until, count] => {
                    events.push(slice("dropped", rank, [since, until], first_ns, &format!(r#""events":{count}"#)));
                }
                ["wait", since, until, _, process, words] => {
                    let args = format!(r#""late":{process},"for":{}"#, quoted(words));
                    events.push(slice("wait", rank, [since, until], first_ns, &args));
                }
                ["collective", since, until, name, algorithm] => {
                    let args = format!(r#""algorithm":{}"#, quoted(algorithm));
                    events.push(slice(name, rank, [since, until], first_ns, &args));
                }
                ["message", at, _, name, process, tag, bytes] => {
                    let at = micros(at, first_ns);
                    events.push(format!(
                        r#"{{"name":{},"ph":"i","s":"t","ts":{at},"pid":{rank},"tid":1,"args":{{"peer":{process},"tag":{tag},"bytes":{bytes}}}}}"#,
                        quoted(name)
                    ));
                }
                _ => {}
            }
        }
    }
    let head = format!(r#"{{"displayTimeUnit":"ns","otherData":{{"dropped":{all_dropped}}},"traceEvents":["#);
    (head + "\n" + &events.join(",\n") + "\n]}\n", all_dropped)
}

fn slice(name: &str, rank: &str, [since, until]: [&str; 2], first_ns: u64, args: &str) -> String {
    let (from, to): (u64, u64) = (since.parse().unwrap_or(0), until.parse().unwrap_or(0));
    let (at, long) = (micros(since, first_ns), to.saturating_sub(from) as f64 / 1e3);
    format!(r#"{{"name":{},"ph":"X","ts":{at},"dur":{long},"pid":{rank},"tid":0,"args":{{{args}}}}}"#, quoted(name))
}

fn begin(line: &str) -> Option<u64> {
    let (kind, rest) = line.split_once('\t')?;
    let (since, _) = rest.split_once('\t').filter(|_| kind != "rank")?;
    since.parse().ok()
}

fn micros(at: &str, first_ns: u64) -> f64 {
    at.parse::<u64>().unwrap_or(0).saturating_sub(first_ns) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document() {
        let first = "rank\t0\tn1\t2\ndropped\t4000\t4200\t2\nwait\t5000\t7500\twait\t1\ta \"message\"\nmessage\t6000\t6000\tposted\t1\t7\t8\n";
        let second = "rank\t1\tn1\t0\ncollective\t4000\t4500\tMPI_Bcast\tsm: flags\n";
        let (text, dropped) = of(&[first.into(), second.into()]);
        assert_eq!(dropped, 2);
        for event in [
            r#"{"name":"process_name","ph":"M","pid":0,"args":{"name":"rank 0 on n1","dropped":2}}"#,
            r#"{"name":"dropped","ph":"X","ts":0,"dur":0.2,"pid":0,"tid":0,"args":{"events":2}}"#,
            r#"{"name":"wait","ph":"X","ts":1,"dur":2.5,"pid":0,"tid":0,"args":{"late":1,"for":"a \"message\""}}"#,
            r#"{"name":"posted","ph":"i","s":"t","ts":2,"pid":0,"tid":1,"args":{"peer":1,"tag":7,"bytes":8}}"#,
            r#"{"name":"MPI_Bcast","ph":"X","ts":0,"dur":0.5,"pid":1,"tid":0,"args":{"algorithm":"sm: flags"}}"#,
        ] {
            assert!(text.contains(event), "{event} is missing in\n{text}");
        }
        assert!(text.starts_with("{\"displayTimeUnit\"") && text.ends_with("]}\n"));
    }
}
