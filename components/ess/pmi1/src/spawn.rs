//! The request for a further job: lines of one `key=value` each, from `mcmd=spawn` to `endcmd` for each program of it.
//!
//! Hydra understands four info keys: `wdir`, `path`, `host` and `hostfile`. What asks for more is refused, because it would be ignored.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use orte_core::direct::parent;
use orte_core::universe::{SpawnApp, SpawnRequest};

/// The lines; `value_bytes` is the longest value that the manager's store takes. `Err` with a sentence.
pub fn text(request: &SpawnRequest, value_bytes: usize) -> Result<String, String> {
    let (key, port) = parent(&request.port);
    if port.len() > value_bytes {
        return Err(format!(
            "the port of this process takes {} bytes, and the process manager's store holds {value_bytes}; oob_tcp_if_include names \
             fewer interfaces",
            port.len()
        ));
    }
    let mut lines = Lines::default();
    for (number, app) in request.apps.iter().enumerate() {
        lines.app(app, (number + 1, request.apps.len()), &request.directory)?;
        let numbers: [(&str, &str); 3] = [("preput_num", "1"), ("preput_key_0", &key), ("preput_val_0", &port)];
        numbers.iter().try_for_each(|(key, value)| lines.pair(key, value.as_bytes()))?;
        lines.0.push_str("endcmd\n");
    }
    Ok(lines.0)
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn app(&mut self, app: &SpawnApp, (number, of): (usize, usize), directory: &[u8]) -> Result<(), String> {
        let (program, arguments) = app.command.split_first().ok_or("the program has no name")?;
        self.pair("mcmd", b"spawn")?;
        self.number("nprocs", app.ranks as usize)?;
        self.pair("execname", program)?;
        self.number("totspawns", of)?;
        self.number("spawnssofar", number)?;
        for (index, argument) in arguments.iter().enumerate() {
            self.pair(&format!("arg{}", index + 1), argument)?;
        }
        self.number("argcnt", arguments.len())?;
        let hints = hints(app, directory)?;
        self.number("info_num", hints.len())?;
        for (index, (key, value)) in hints.iter().enumerate() {
            self.pair(&format!("info_key_{index}"), key.as_bytes())?;
            self.pair(&format!("info_val_{index}"), value)?;
        }
        Ok(())
    }

    fn number(&mut self, key: &str, number: usize) -> Result<(), String> {
        self.pair(key, number.to_string().as_bytes())
    }

    fn pair(&mut self, key: &str, value: &[u8]) -> Result<(), String> {
        let value = core::str::from_utf8(value).ok().filter(|value| !value.contains('\n'));
        let value = value.ok_or_else(|| {
            format!("{key} of PMI-1 takes no line break and nothing that is not UTF-8; mpirun of ompi-rs starts such programs")
        })?;
        [key, "=", value, "\n"].iter().for_each(|part| self.0.push_str(part));
        Ok(())
    }
}

/// Info keys and their values. A directory that nobody named is that of the process that asks, as under mpirun.
fn hints<'a>(app: &'a SpawnApp, directory: &'a [u8]) -> Result<Vec<(&'static str, &'a [u8])>, String> {
    let mut hints: Vec<(&'static str, &[u8])> = Vec::new();
    for pair in app.options.chunks(2) {
        let [option, value] = pair else { return Err(String::from("an option has no value")) };
        let known = KEYS.iter().find(|(name, _)| name.as_bytes() == option);
        let (_, key) = known.ok_or_else(|| {
            format!(
                "a process manager that speaks PMI-1 understands the info keys wdir, path, host and hostfile, and nothing that means {}; \
                 leave it out, or start the program with mpirun of ompi-rs",
                String::from_utf8_lossy(option)
            )
        })?;
        hints.push((key, value));
    }
    if hints.iter().all(|(key, _)| *key != "wdir") {
        hints.push(("wdir", directory));
    }
    Ok(hints)
}

/// Options of mpirun, and Hydra's info keys of the same meaning.
const KEYS: [(&str, &str); 4] =
    [("--wdir", "wdir"), ("--path", "path"), ("--host", "host"), ("--hostfile", "hostfile")];

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn request(options: &[&str], argument: &str) -> SpawnRequest {
        let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let app = SpawnApp { ranks: 2, options: words(options), command: words(&["./child", argument]) };
        SpawnRequest { port: "a b".into(), directory: b"/tmp".to_vec(), by: 1, apps: vec![app] }
    }

    #[test]
    fn a_request() {
        let text = text(&request(&["--host", "h1,h2"], "a = b"), 100).unwrap();
        let want = "mcmd=spawn\nnprocs=2\nexecname=./child\ntotspawns=1\nspawnssofar=1\narg1=a = b\nargcnt=1\n\
                    info_num=2\ninfo_key_0=host\ninfo_val_0=h1,h2\ninfo_key_1=wdir\ninfo_val_1=/tmp\n\
                    preput_num=1\npreput_key_0=ompi-rs-parent\npreput_val_0=612062\nendcmd\n";
        assert_eq!(text, want);
    }

    #[test]
    fn what_the_manager_would_ignore_is_refused() {
        for (options, argument, value_bytes, part) in [
            (&["--map-by", "node"][..], "", 100, "nothing that means --map-by"),
            (&[], "two\nlines", 100, "arg1 of PMI-1 takes no line break"),
            (&[], "", 5, "takes 6 bytes"),
        ] {
            let sentence = text(&request(options, argument), value_bytes).unwrap_err();
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}
