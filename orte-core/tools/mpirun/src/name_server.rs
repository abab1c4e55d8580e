//! `mpirun --name-server FILE`: names of ports for jobs of any user on any host. Such a job is started with `--ompi-server file:FILE`; its
//! mpirun calls the port that FILE describes, and both prove that they know the secret in it.

use crate::refusal::{OWN, Refusal};
use crate::there::There;
use crate::universe::Names;
use crate::{params, raw, signals};
use orte_core::port::{Channel, Listener};
use rustix::event::{PollFd, PollFlags};
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Serves until a signal ends it. `mca` holds names and values in turn.
pub fn run(file: &Path, mca: &[String]) -> Result<(), Refusal> {
    let refused =
        |why: &dyn Display| Refusal { status: OWN, sentence: format!("--name-server {}: {why}", file.display()) };
    let mca: Vec<_> = mca.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    params::check(&mca)?;
    There::read_parameters(&mca)?;
    let mut listener = Listener::open().map_err(|why| refused(&why))?;
    listener.listen_far().map_err(Refusal::usage)?;
    // Before the file is there: who waits for it may end this process at once.
    let ending: Vec<i32> = signals::ENDING.into_iter().filter(|signal| !raw::is_ignored(*signal)).collect();
    let ended = raw::signal_descriptor(&ending).map_err(|error| refused(&error))?;
    let written = Written::new(file, listener.text()).map_err(|why| refused(&why))?;
    let mut names = Names::serving(listener);
    while raw::next_signal(&ended).is_none() {
        names.pump();
        let mut polls = vec![PollFd::new(&ended, PollFlags::IN)];
        names.interests(&mut polls);
        // Interrupted or not, everything is looked at again.
        let _ = rustix::event::poll(&mut polls, None);
    }
    drop(written);
    Ok(())
}

/// The file, which is there whole or not at all. It goes with this, unless another name server has replaced it.
struct Written {
    path: PathBuf,
    text: String,
}

impl Written {
    fn new(path: &Path, text: String) -> Result<Written, String> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err("that is no regular file".to_owned());
        }
        if fs::read_to_string(path).is_ok_and(|text| is_served(text.trim())) {
            return Err("a name server serves it already; jobs use it by --ompi-server".to_owned());
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| writeln!(file, "{text}"))
            .and_then(|()| fs::rename(&beside, path));
        written.map_err(|error| {
            // It may not be there.
            let _ = fs::remove_file(&beside);
            error.to_string()
        })?;
        Ok(Written { path: path.to_owned(), text })
    }
}

/// Whether somebody on this host listens at the port of this text.
fn is_served(text: &str) -> bool {
    matches!(orte_core::port::reach(text), Some((true, _))) && Channel::call(text).is_ok()
}

impl Drop for Written {
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text.trim_end() == self.text) {
            // Somebody else may have removed it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
