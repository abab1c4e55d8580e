//! Files that are no cables stay what they are.

use hw_rig::cable::Cable;
use std::path::PathBuf;
use std::process::Command;

/// A place for a file, which vanishes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        Place(std::env::temp_dir().join(format!("ompi-rs-cable-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// tuc-fpga with this cable: it must refuse with these words.
    fn refused(&self, words: &str) {
        let mut command = Command::new("timeout");
        command.args(["20", env!("CARGO_BIN_EXE_tuc-fpga"), "--nodes", "2", "--cable", self.path(), "true"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(self.path()) && said.contains(words), "{said}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_of_something_else_is_not_destroyed() {
    let place = Place::new("text");
    std::fs::write(&place.0, "precious").unwrap();
    place.refused("holds something else");
    assert_eq!(std::fs::read_to_string(&place.0).unwrap(), "precious");
    let link = Place::new("link");
    std::os::unix::fs::symlink(&place.0, &link.0).unwrap();
    link.refused("symbolic link");
    std::fs::write(&place.0, vec![0; 1 << 20]).unwrap();
    place.refused("holds something else");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let place = Place::new("pipe");
    assert!(Command::new("mkfifo").arg(&place.0).status().unwrap().success());
    place.refused("it is a pipe");
    assert!(Cable::open(place.path()).is_err());
}

#[test]
fn a_cable_may_be_used_again() {
    let place = Place::new("again");
    let cable = Cable::create(place.path()).unwrap();
    cable.put_data(0, 0x5a);
    let again = Cable::create(place.path()).unwrap();
    assert_eq!(again.data(0), 0x5a);
    assert_eq!(Cable::open(place.path()).unwrap().data(0), 0x5a);
}
