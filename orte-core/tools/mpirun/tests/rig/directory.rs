//! A directory of one test.

use std::path::PathBuf;

/// A directory that goes away with this value.
pub struct Directory(PathBuf);

impl Directory {
    /// A new one; `name` tells the tests of all programs apart.
    pub fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("ompi-rs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    /// Where a file of this name lies in it.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file; its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    /// Reads a file that must be there.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
