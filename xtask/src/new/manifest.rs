//! A template's Cargo.toml for a crate that is its own workspace: what a member inherits is written out.

use crate::failure::{At, Result, fail};
use std::path::Path;

/// `manifest` lies in `folder` and inherits from `root_manifest`, which lies in `root`.
pub fn outside(manifest: &str, root_manifest: &str, root: &Path, folder: &Path) -> Result<String> {
    let mut text = String::new();
    let mut table = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        }
        if line == "[lints]" || table == "lints" {
            continue;
        }
        let line = match line.strip_suffix(".workspace = true") {
            Some(key) => {
                let from = if table == "package" { "workspace.package" } else { "workspace.dependencies" };
                let inherited = entries(root_manifest, from).find(|line| line.starts_with(&format!("{key} =")));
                inherited.ok_or_else(|| fail(format!("[{from}] of the root's Cargo.toml has no {key}")))?
            }
            None => line,
        };
        let base = if table == "dependencies" { root } else { folder };
        text += &absolute(line, base)?;
        text.push('\n');
    }
    text = format!("{}\n\n[workspace]\n", text.trim_end());
    for table in ["rust", "clippy"] {
        text += &format!("\n[lints.{table}]\n");
        entries(root_manifest, &format!("workspace.lints.{table}")).for_each(|line| text += &format!("{line}\n"));
    }
    Ok(text)
}

/// The lines of a table.
fn entries<'a>(manifest: &'a str, table: &str) -> impl Iterator<Item = &'a str> {
    let header = format!("[{table}]");
    let lines = manifest.lines().skip_while(move |line| *line != header).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The same line with `path = "…"` from the root of the file system.
fn absolute(line: &str, base: &Path) -> Result<String> {
    let Some((before, (path, after))) =
        line.split_once("path = \"").and_then(|(before, rest)| Some((before, rest.split_once('"')?)))
    else {
        return Ok(line.to_owned());
    };
    let path = base.join(path);
    let path = path.canonicalize().at(format!("find {}", path.display()))?;
    Ok(format!("{before}path = {:?}{after}", path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_out_what_a_member_inherits() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let theirs = "[workspace.package]\nversion = \"1.2.3\"\n\n[workspace.dependencies]\nnew = { path = \"src/new\" }\n\n\
                      [workspace.lints.rust]\n# why\nx = \"deny\"\n\n[workspace.lints.clippy]\ny = \"deny\"\n";
        let ours = "[package]\nname = \"a\"\nversion.workspace = true\n\n[dependencies]\nnew.workspace = true\n\n\
                    [dev-dependencies]\nb = { path = \"../src\" }\n\n[lints]\nworkspace = true\n";
        let wanted = format!(
            "[package]\nname = \"a\"\nversion = \"1.2.3\"\n\n[dependencies]\nnew = {{ path = \"{0}/src/new\" }}\n\n\
             [dev-dependencies]\nb = {{ path = \"{0}/src\" }}\n\n[workspace]\n\n[lints.rust]\nx = \"deny\"\n\n\
             [lints.clippy]\ny = \"deny\"\n",
            root.display()
        );
        assert_eq!(outside(ours, theirs, root, &root.join("src")).unwrap(), wanted);
        let missing = outside("[package]\nlicense.workspace = true\n", theirs, root, root).unwrap_err();
        assert!(missing.text.contains("has no license"));
    }
}
