//! Source code of programs that Debian has packages of: the archive as its authors published it, checked by its hash.

use super::{Verdict, deadline};
use crate::failure::At;
use crate::shell;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A package, the archive of its source, and the folder in it.
pub struct DebianSource {
    /// Of Debian, if it is not the system's own.
    pub release: Option<&'static str>,
    pub package: &'static str,
    pub archive: &'static str,
    pub sha256: &'static str,
    pub folder: &'static str,
}

impl DebianSource {
    /// The unpacked folder; downloaded below target once.
    pub fn unpacked(&self, target: &Path) -> std::result::Result<PathBuf, Verdict> {
        self.unpacked_into(&target.join("debian").join(self.package), target)
    }

    /// The same as a folder of another one.
    pub fn unpacked_into(&self, place: &Path, target: &Path) -> std::result::Result<PathBuf, Verdict> {
        let home = target.join("debian").join(self.package);
        let archive = home.join(self.archive);
        if !archive.is_file() {
            self.download(&home, &target.join("test/debian").join(format!("{}.log", self.package)))?;
        }
        let bytes = std::fs::read(&archive).at(format!("read {}", archive.display()))?;
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if hash != self.sha256 {
            let why = format!(
                "{} has the hash {hash} instead of {}; remove it, and it is downloaded again",
                archive.display(),
                self.sha256
            );
            return Err(Verdict::Failed(why));
        }
        shell::folder(place)?;
        shell::output(Command::new("tar").arg("-xf").arg(&archive).current_dir(place))?;
        Ok(place.join(self.folder))
    }

    /// From where the system has its packages, though sources need not be configured for it: the list of them and what apt
    /// notes on them lie below target.
    fn download(&self, home: &Path, log: &Path) -> std::result::Result<(), Verdict> {
        let by_hand = format!("put {} into {}", self.archive, home.display());
        if shell::which("apt-get").is_none() {
            return Err(Verdict::Skipped(format!("apt-get, which downloads it, is not there; {by_hand}")));
        }
        shell::folder(&home.join("lists/partial"))?;
        shell::folder(&home.join("cache/archives/partial"))?;
        let format = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)";
        let list = ["indextargets", "--format", format, "Created-By: Packages"];
        let mut sources = shell::output(Command::new("apt-get").args(list))?;
        if let Some(release) = self.release {
            sources = of_release(&sources, release);
        }
        shell::write(&home.join("sources.list"), &sources)?;
        for action in [&["update"][..], &["source", "--download-only", "--tar-only", self.package]] {
            let mut apt = Command::new("apt-get");
            for (name, place) in [
                ("Dir::Etc::sourcelist", "sources.list"),
                ("Dir::Etc::sourceparts", "none"),
                ("Dir::State::lists", "lists"),
                ("Dir::Cache", "cache"),
            ] {
                apt.arg("-o").arg(format!("{name}={}", home.join(place).display()));
            }
            // Not as the user _apt, who may not look into this folder.
            apt.args(["-o", "APT::Sandbox::User="]).arg("-qq").args(action).current_dir(home);
            let ended = deadline::run(&mut apt, DOWNLOAD_LIMIT, log)?;
            if !ended.ended_with(0) {
                let help = format!("apt cannot download the source of {}; {by_hand}", self.package);
                return Err(Verdict::Skipped(format!("{help}\n{}", ended.story())));
            }
        }
        Ok(())
    }
}

/// Sources like the system's main ones, of another release.
fn of_release(sources: &str, release: &str) -> String {
    let main = sources.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        // Not of updates.
        [kind, place, of, "main"] if !of.contains('-') => Some(format!("{kind} {place} {release} main\n")),
        _ => None,
    });
    main.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// MPICH's, for its tests.
pub const MPICH: DebianSource = DebianSource {
    release: None,
    package: "mpich",
    archive: "mpich_4.0.2.orig.tar.xz",
    sha256: "b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860",
    folder: "mpich-4.0.2",
};

const DOWNLOAD_LIMIT: Duration = Duration::from_secs(180);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_release_comes_from_the_same_place() {
        let sources = "deb-src http://a/debian/ bookworm main\ndeb-src http://a/debian/ bookworm contrib\n\
                       deb-src http://a/security/ bookworm-security main\n";
        assert_eq!(of_release(sources, "trixie"), "deb-src http://a/debian/ trixie main\n");
        assert_eq!(of_release("", "trixie"), "");
    }
}
