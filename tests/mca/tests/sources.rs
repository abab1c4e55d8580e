//! Values from a real environment, real files and a command line, in a process of its own: the test binary starts
//! itself in another role.

use opal_core::mca::{self, select_one, source};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use test_mca::{SOUND, SOUND_COMPONENTS, fruit};

/// What the other process said.
struct Said {
    status: i32,
    out: String,
    err: String,
}

impl Said {
    /// The line `name = value (source)` of a parameter.
    fn value(&self, name: &str) -> &str {
        let mut lines = self.out.lines().filter_map(|line| line.split_once(" = "));
        lines.find(|(key, _)| *key == name).map_or("?", |(_, value)| value)
    }
}

fn start(environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "role", "--nocapture", "--test-threads=2"]);
    command.env_clear().env("HOME", "/nonexistent").envs(environment.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Said { status: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[test]
#[ignore = "no case of its own: the child process that the other tests start with --ignored"]
fn role() {
    let mut fatal = false;
    for problem in source::apply(SOUND, SOUND_COMPONENTS, &source::collect()) {
        opal_core::message!("{}", problem.text);
        fatal |= problem.fatal;
    }
    mca::framework::each_param(SOUND, SOUND_COMPONENTS, &mut |framework, component, param| {
        let name = mca::param::full_name(framework, component, param.name);
        println!("\n{name} = {} ({})", param.value(), param.source());
    });
    // Twice: the second time must not repeat what was decided the first time.
    let choose = || select_one(&fruit::FRAMEWORK, &fruit::TEST_FRUITS, |component| component.query());
    let _ = choose();
    let chosen = choose();
    println!("chosen = {}", chosen.map_or("nobody", |(_, name)| name));
    if fatal {
        std::process::exit(3);
    }
}

/// A home folder with a file of parameters.
struct Home(PathBuf);

impl Home {
    fn new(name: &str, file: &str) -> Home {
        let home = std::env::temp_dir().join(format!("ompi-rs-mca-{}-{name}", std::process::id()));
        std::fs::create_dir_all(home.join(".ompi-rs")).unwrap();
        std::fs::write(home.join(source::USER_FILE), file).unwrap();
        Home(home)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn defaults() {
    let said = start(&[]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    assert_eq!(said.value("btl_sm_eager_limit"), "4096 (default)");
    assert_eq!(said.value("btl_sm_path"), "cma (default)");
    assert_eq!(said.value("btl_base_verbose"), "0 (default)");
    assert_eq!(said.value("chosen"), "banana");
    // A static framework has no selection list: the choice was made when the image was built.
    assert_eq!(said.value("engine"), "?");
}

/// What others may have put in the place of the user's file: it is not obeyed, not waited for, not read without end.
#[test]
fn files_of_others_are_not_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new("distrust", "btl_sm_depth = 16\n");
    let path = home.0.join(source::USER_FILE);
    let refused = |why: &str| {
        let said = start(&[("HOME", home.path())]);
        assert_eq!((said.status, said.value("btl_sm_depth").contains("default")), (0, true), "{}", said.err);
        assert!(said.err.contains("was not read") && said.err.contains(why), "{}", said.err);
    };
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    refused("everybody may write to it");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    // Only root can give files away.
    if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
        refused("it belongs to another user (65534)");
    }
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    refused("it is a device");
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("it is a pipe");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, vec![b'#'; 2 << 20]).unwrap();
    refused("longer than 1048576 bytes");
}

#[test]
fn each_source_is_stronger_than_the_one_before() {
    let file = "# mine\n\nbtl_sm_eager_limit = 1k   # one\nbtl_sm_depth=0x10\nbtl_sm_fast = no\n";
    let home = Home::new("sources", file);
    let path = home.0.join(source::USER_FILE);
    let path = path.display();
    let said = start(&[("HOME", home.path())]);
    assert_eq!(said.value("btl_sm_eager_limit"), format!("1024 (file {path}:3)"));
    assert_eq!(said.value("btl_sm_depth"), format!("16 (file {path}:4)"));
    assert_eq!(said.value("btl_sm_fast"), format!("false (file {path}:5)"));

    let environment = [("HOME", home.path()), ("OMPI_MCA_btl_sm_eager_limit", "2k"), ("OMPI_MCA_btl_sm_fast", "on")];
    let said = start(&environment);
    assert_eq!(said.value("btl_sm_eager_limit"), "2048 (environment)");
    assert_eq!(said.value("btl_sm_fast"), "true (environment)");
    assert_eq!(said.value("btl_sm_depth"), format!("16 (file {path}:4)"));

    let listed = [environment[0], environment[1], environment[2], ("OMPI_RS_MCA_COMMAND_LINE", "btl_sm_eager_limit,x")];
    let said = start(&listed);
    assert_eq!(said.value("btl_sm_eager_limit"), "2048 (command line)");
    assert_eq!(said.value("btl_sm_fast"), "true (environment)");
}

#[test]
fn the_command_line_wins_over_the_older_name_in_the_environment() {
    for (older, newer) in
        [("btl_vader_eager_limit", "btl_sm_eager_limit"), ("btl_sm_eager_limit", "btl_vader_eager_limit")]
    {
        let environment = [
            (&*format!("OMPI_MCA_{older}"), "1"),
            (&*format!("OMPI_MCA_{newer}"), "2"),
            ("OMPI_RS_MCA_COMMAND_LINE", newer),
        ];
        assert_eq!(start(&environment).value("btl_sm_eager_limit"), "2 (command line)", "{older}");
    }
}

#[test]
fn older_names() {
    let said = start(&[("OMPI_MCA_btl_vader_path", "copy")]);
    assert_eq!((said.value("btl_sm_path"), said.err.as_str()), ("copy (environment)", ""));
}

#[test]
fn a_bad_value_names_parameter_value_and_source() {
    let file = "fruit = apple\nbtl_sm_path = mmap\n";
    let home = Home::new("bad", file);
    let place = format!("{}:2", home.0.join(source::USER_FILE).display());
    let said =
        start(&[("HOME", home.path()), ("OMPI_MCA_btl_sm_eager_limit", "-5"), ("OMPI_MCA_btl_sm_fast", "maybe")]);
    assert_eq!(said.status, 3);
    for words in [
        &["btl_sm_path", "`mmap`", place.as_str(), "one of copy, cma"][..],
        &["btl_sm_eager_limit", "`-5`", "environment", "non-negative"],
        &["btl_sm_fast", "`maybe`", "environment", "true or false"],
    ] {
        let line = said.err.lines().find(|line| line.contains(words[0])).unwrap_or_else(|| panic!("{}", said.err));
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
    assert_eq!(said.value("btl_sm_eager_limit"), "4096 (default)");
    assert_eq!(said.value("chosen"), "apple");
}

#[test]
fn parameters_of_another_mpi_are_one_warning() {
    let home = Home::new("stranger", "orte_base_help_aggregate = 0\n");
    let said = start(&[("HOME", home.path()), ("OMPI_MCA_btl_openib_allow_ib", "1"), ("OMPI_MCA_pmix", "^s1")]);
    assert_eq!(said.status, 0);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    for name in ["orte_base_help_aggregate", "btl_openib_allow_ib", "pmix"] {
        assert!(said.err.contains(name), "{}", said.err);
    }
}

#[test]
fn an_unknown_parameter_on_the_command_line_is_fatal_and_gets_a_hint() {
    let said = start(&[("OMPI_MCA_btl_sm_eager_limt", "1"), ("OMPI_RS_MCA_COMMAND_LINE", "btl_sm_eager_limt")]);
    assert_eq!(said.status, 3);
    assert!(said.err.contains("btl_sm_eager_limt (command line); did you mean btl_sm_eager_limit?"), "{}", said.err);
}

#[test]
fn an_unknown_component_gets_a_hint_and_its_source() {
    let said = start(&[("OMPI_MCA_fruit", "aple")]);
    assert_eq!(said.value("chosen"), "nobody");
    for word in ["fruit has no component aple", "environment", "did you mean apple?", "banana, cherry"] {
        assert!(said.err.contains(word), "{word}: {}", said.err);
    }
}

#[test]
fn nobody_accepts_and_everybody_says_why() {
    let said = start(&[("OMPI_MCA_fruit", "durian,elder")]);
    assert_eq!(said.value("chosen"), "nobody");
    assert_eq!(said.err.lines().count(), 2);
    for line in said.err.lines() {
        for word in ["durian: it smells", "elder: not ripe", "apple: left out"] {
            assert_eq!(line.matches(word).count(), 1, "{word}: {line}");
        }
    }
}

#[test]
fn verbosity_tells_decisions() {
    assert_eq!(start(&[]).err, "");
    let said = start(&[("OMPI_MCA_fruit_base_verbose", "10")]);
    for word in ["fruit: banana is chosen with priority 30", "apple offered priority 10", "durian declines: it smells"]
    {
        assert!(said.err.contains(word), "{word}: {}", said.err);
    }
}

#[test]
fn a_line_that_is_no_assignment_is_said_with_its_place() {
    let home = Home::new("line", "btl_sm_fast no\n");
    let said = start(&[("HOME", home.path())]);
    assert_eq!(said.status, 0);
    assert!(said.err.contains("mca-params.conf:1: `btl_sm_fast no` is ignored"), "{}", said.err);
}

#[test]
fn texts_with_commas_and_equals_signs_come_through() {
    let said = start(&[("OMPI_MCA_btl_sm_note", "a=b,c d")]);
    assert_eq!(said.value("btl_sm_note"), "a=b,c d (environment)");
}
