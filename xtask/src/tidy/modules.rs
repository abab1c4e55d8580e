//! The modules of one crate as its sources write them: what each defines, imports and names in its code. Tests are left
//! out.

mod resolve;

use super::files::{Source, Sources};
use super::spans::{close, end_of_item, end_of_tested, is_modifier, is_test, text};
use super::tokens::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

pub use resolve::Target;

/// A crate: `modules[0]` is its root.
#[derive(Debug, Default)]
pub struct CrateSource<'a> {
    /// Where its Cargo.toml lies, below the root of the tree.
    pub folder: String,
    /// All modules, parents before their children.
    pub modules: Vec<ModuleSource<'a>>,
}

/// One module. Inline modules share the file of the module around them.
#[derive(Debug, Default)]
pub struct ModuleSource<'a> {
    /// Its file, below the root of the tree.
    pub file: String,
    /// Its parent's index; the root is its own.
    pub parent: usize,
    /// Child modules by name; several where cfg chooses one of them, none for tests and for files of other crates.
    pub children: BTreeMap<&'a str, Vec<usize>>,
    /// What it defines.
    pub items: Vec<Item<'a>>,
    /// What it imports.
    pub imports: Vec<Import<'a>>,
    /// Paths in its code.
    pub paths: BTreeSet<Vec<&'a str>>,
    /// Identifiers in its code that are no fields and no methods; heads of paths, too.
    pub words: BTreeSet<&'a str>,
    /// The folder of its children's files.
    folder: String,
}

/// Something with a name.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// `struct`, `fn`, `macro_rules` …
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Where it is defined.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Has a `pub` of any reach.
    pub is_public: bool,
}

/// One name that a `use` brings; `*` for all of a module.
#[derive(Clone, Debug)]
pub struct Import<'a> {
    /// The name in this module.
    pub name: &'a str,
    /// The path that it stands for.
    pub path: Vec<&'a str>,
    /// Has a `pub` of any reach.
    pub is_public: bool,
}

/// Every crate of the tree but those below tests/. A package with a library and a program is two.
pub fn crates(sources: &Sources) -> Vec<CrateSource<'_>> {
    let manifests = sources.0.iter().filter(|source| source.path.ends_with("/Cargo.toml") && !source.is_test());
    let mut crates = Vec::new();
    for manifest in manifests {
        let folder = manifest.path.trim_end_matches("/Cargo.toml");
        let named = manifest.text.lines().filter_map(|line| line.strip_prefix("path = \"")?.split('"').next());
        let roots: BTreeSet<&str> = named.chain(["src/lib.rs", "src/main.rs"]).collect();
        for root in roots {
            let source = sources.find(&format!("{folder}/{root}"));
            crates.extend(source.map(|source| CrateSource::read(folder, source, sources)));
        }
    }
    crates
}

impl<'a> CrateSource<'a> {
    /// Reads the crate whose root is this file.
    pub fn read(folder: &str, root: &'a Source, sources: &'a Sources) -> CrateSource<'a> {
        let mut all = CrateSource { folder: folder.to_owned(), modules: Vec::new() };
        let home = root.path.rsplit_once('/').map_or("", |(home, _)| home);
        all.modules.push(ModuleSource { file: root.path.clone(), folder: home.to_owned(), ..ModuleSource::default() });
        Reader { sources, all: &mut all }.file(0, &root.text);
        all
    }
}

/// What the attributes before an item say.
#[derive(Clone, Copy, Default)]
struct Attributes<'a> {
    is_test: bool,
    is_exported: bool,
    path: Option<&'a str>,
}

struct Reader<'s, 'a> {
    sources: &'a Sources,
    all: &'s mut CrateSource<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn file(&mut self, module: usize, text: &'a str) {
        self.items(module, &tokens(text));
    }

    /// Everything at the level of a module.
    fn items(&mut self, module: usize, tokens: &[Token<'a>]) {
        let mut at = 0;
        while at < tokens.len() {
            let (attributes, start) = self.attributes(module, tokens, at);
            let is_public = text(tokens, start) == "pub";
            let mut word = start + usize::from(is_public);
            if is_public && text(tokens, word) == "(" {
                word = close(tokens, word) + 1;
            }
            while is_modifier(tokens, word) {
                word += 1;
            }
            let end = end_of_item(tokens, word);
            if !attributes.is_test {
                self.item(module, &tokens[word.min(end)..end], is_public, attributes);
            }
            at = end.max(at + 1);
        }
    }

    /// Reads attributes; also returns where they end.
    fn attributes(&mut self, module: usize, tokens: &[Token<'a>], mut at: usize) -> (Attributes<'a>, usize) {
        let mut attributes = Attributes::default();
        while text(tokens, at) == "#" {
            let open = at + 1 + usize::from(text(tokens, at + 1) == "!");
            let end = close(tokens, open);
            let inside = &tokens[(open + 1).min(end)..end];
            attributes.is_test |= is_test(inside);
            attributes.is_exported |= text(inside, 0) == "macro_export";
            if text(inside, 0) == "path" {
                attributes.path = Some(text(inside, 2).trim_matches('"'));
            }
            self.code(module, inside);
            at = end + 1;
        }
        (attributes, at)
    }

    /// One item from its keyword to its end.
    fn item(&mut self, module: usize, tokens: &[Token<'a>], is_public: bool, attributes: Attributes<'a>) {
        let (kind, name) = (text(tokens, 0), text(tokens, 1));
        match kind {
            "use" => self.imports(module, tokens, is_public),
            "mod" => self.module(module, tokens, attributes),
            "macro_rules" => {
                let root = if attributes.is_exported { 0 } else { module };
                self.define(root, module, kind, &tokens[2], true);
                self.code(module, &tokens[3..]);
            }
            _ if DEFINING.contains(&kind) && name != "_" => {
                self.define(module, module, kind, &tokens[1], is_public);
                self.code(module, &tokens[2..]);
            }
            "impl" => self.code(module, tokens),
            // A macro or an `extern` block: what is in it may be items.
            _ => {
                for (at, token) in tokens.iter().enumerate().skip(1) {
                    let named = tokens.get(at + 1).is_some_and(Token::is_word) && text(tokens, at - 1) != "$";
                    if DEFINING.contains(&token.text) && named {
                        self.define(module, module, token.text, &tokens[at + 1], text(tokens, at - 1) == "pub");
                    }
                }
                self.code(module, tokens);
            }
        }
    }

    fn define(&mut self, module: usize, place: usize, kind: &'a str, name: &Token<'a>, is_public: bool) {
        let file = self.all.modules[place].file.clone();
        self.all.modules[module].items.push(Item { kind, name: name.text, file, line: name.line, is_public });
    }

    /// `mod name;` or `mod name { … }`.
    fn module(&mut self, parent: usize, tokens: &[Token<'a>], attributes: Attributes<'a>) {
        let name = text(tokens, 1);
        let around = &self.all.modules[parent];
        let inside = format!("{}/{name}", around.folder);
        let index = self.all.modules.len();
        if text(tokens, 2) == "{" {
            let module = ModuleSource { file: around.file.clone(), parent, folder: inside, ..ModuleSource::default() };
            self.all.modules.push(module);
            self.all.modules[parent].children.entry(name).or_default().push(index);
            self.items(index, &tokens[3..tokens.len() - 1]);
            return;
        }
        let home = around.file.rsplit_once('/').map_or("", |(home, _)| home).to_owned();
        self.all.modules[parent].children.entry(name).or_default();
        let files = match attributes.path {
            Some(path) => vec![format!("{home}/{path}")],
            None => vec![format!("{inside}.rs"), format!("{inside}/mod.rs")],
        };
        let Some(source) = files.iter().find_map(|file| self.sources.find(file)) else { return };
        if source.is_test() || source.path.ends_with("/test_image.rs") {
            return;
        }
        let folder = match (attributes.path, source.path.strip_suffix("/mod.rs")) {
            (Some(_), None) => source.path.rsplit_once('/').map_or("", |(home, _)| home).to_owned(),
            _ => inside,
        };
        self.all.modules.push(ModuleSource { file: source.path.clone(), parent, folder, ..ModuleSource::default() });
        self.all.modules[parent].children.entry(name).or_default().push(index);
        self.file(index, &source.text);
    }

    /// `use` to `;`.
    fn imports(&mut self, module: usize, tokens: &[Token<'a>], is_public: bool) {
        let end = tokens.iter().position(|token| token.text == ";").unwrap_or(tokens.len());
        let mut imports = Vec::new();
        tree(&tokens[1..end], &[], &mut |name, path| imports.push(Import { name, path, is_public }));
        self.all.modules[module].imports.extend(imports);
    }

    /// Code: paths, words, and what is imported for one block.
    fn code(&mut self, module: usize, tokens: &[Token<'a>]) {
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            if token.text == "#" && text(tokens, at + 1) == "[" {
                let end = close(tokens, at + 1);
                let skipped = is_test(&tokens[at + 2..end.max(at + 2)]);
                at = if skipped { end_of_tested(tokens, end + 1) } else { at + 2 };
            } else if token.text == "use" && text(tokens, at + 1) != "<" {
                let end = tokens[at..].iter().position(|token| token.text == ";").map_or(tokens.len(), |end| at + end);
                self.imports(module, &tokens[at..end], false);
                at = end;
            } else if token.is_word() {
                at = self.path(module, tokens, at);
            } else {
                at += 1;
            }
        }
    }

    /// The path that begins here; returns where it ends.
    fn path(&mut self, module: usize, tokens: &[Token<'a>], start: usize) -> usize {
        let mut path = vec![tokens[start].text];
        let mut at = start + 1;
        while text(tokens, at) == "::" && tokens.get(at + 1).is_some_and(Token::is_word) {
            path.push(tokens[at + 1].text);
            at += 2;
        }
        let before = start.checked_sub(1).map_or("", |before| tokens[before].text);
        let is_range = start >= 2 && before == "." && tokens[start - 2].text == ".";
        if !matches!(before, "." | "$" | "::") || is_range {
            let module = &mut self.all.modules[module];
            module.words.insert(path[0]);
            if path.len() > 1 {
                module.paths.insert(path);
            }
        }
        at
    }
}

/// The names that a `use` brings.
fn tree<'a>(tokens: &[Token<'a>], before: &[&'a str], found: &mut impl FnMut(&'a str, Vec<&'a str>)) {
    let mut path = before.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "{" => {
                let end = close(tokens, at);
                let mut start = at + 1;
                for comma in (at + 1)..=end {
                    let depth = depth(&tokens[at + 1..comma]);
                    if comma == end || (tokens[comma].text == "," && depth == 0) {
                        if start < comma {
                            tree(&tokens[start..comma], &path, found);
                        }
                        start = comma + 1;
                    }
                }
                return;
            }
            "*" => return found("*", path),
            "as" => return found(text(tokens, at + 1), path),
            // `use ::x`: another crate.
            "::" if at == 0 && before.is_empty() => return,
            "::" => {}
            "self" if !path.is_empty() => {}
            word => path.push(word),
        }
        at += 1;
    }
    if let Some(name) = path.last().copied() {
        found(name, path);
    }
}

fn depth(tokens: &[Token]) -> usize {
    let opened = tokens.iter().filter(|token| token.text == "{").count();
    opened - tokens.iter().filter(|token| token.text == "}").count()
}

const DEFINING: &[&str] = &["struct", "enum", "union", "trait", "type", "fn", "const", "static"];
