//! The whole program, started as users start it: this test binary runs itself with another role.

use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock];

/// What one run said and how it ended.
struct Said {
    status: i32,
    out: String,
    err: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env_clear().env("HOME", "/nonexistent").env(ROLE, arguments.join("\n")).stdin(Stdio::null());
    command.args(["--ignored", "--exact", "role", "--nocapture", "--test-threads=1"]);
    command
}

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Said {
    let output = command(arguments).envs(environment.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    // libtest's own two lines come first.
    let out = text(&output.stdout);
    let out = out.split_once(MARK).map_or("", |(_, rest)| rest.trim_start_matches('\n')).to_owned();
    Said { status: output.status.code().unwrap(), out, err: text(&output.stderr) }
}

#[test]
#[ignore = "no case of its own: the child process that the other tests start with --ignored"]
fn role() {
    let arguments = std::env::var(ROLE).unwrap();
    println!("{MARK}");
    // The parent may want to go away first.
    std::io::stdin().read_line(&mut String::new()).unwrap();
    ompi_info::main_with(arguments.split('\n').filter(|argument| !argument.is_empty()));
}

#[test]
fn shows_components() {
    let said = run(&[], &[]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    for word in ["ompi-rs ", "MPI ABI: 1.0", "btl: ", "MCA timer: clock ", "The system's monotonic clock"] {
        assert!(said.out.contains(word), "{word} is missing in\n{}", said.out);
    }
}

#[test]
fn shows_version() {
    let said = run(&["--version"], &[]);
    assert_eq!(said.out.trim(), concat!("ompi-rs ", env!("CARGO_PKG_VERSION"), ", MPI 5.0, standard ABI 1.0"));
}

#[test]
fn values_have_an_origin() {
    let said = run(&["--param", "mpi"], &[("OMPI_MCA_mpi_show_components", "yes")]);
    assert!(said.out.contains("mpi_show_components = true  (environment)"), "{}", said.out);
    assert!(said.out.contains("default false"), "{}", said.out);
    assert!(run(&["--param", "mpi"], &[]).out.contains("mpi_show_components = false  (default)"));
}

#[test]
fn the_command_line_wins() {
    let environment = [("OMPI_MCA_mpi_show_components", "no"), ("OMPI_RS_MCA_COMMAND_LINE", "mpi_show_components")];
    let said = run(&["--param", "mpi"], &environment);
    assert!(said.out.contains("mpi_show_components = false  (command line)"), "{}", said.out);
}

#[test]
fn a_bad_value_is_said_and_the_rest_shown() {
    let said = run(&["--param", "mpi"], &[("OMPI_MCA_mpi_show_components", "perhaps")]);
    assert_eq!(said.status, 1);
    for word in ["mpi_show_components", "perhaps", "environment", "true or false"] {
        assert!(said.err.contains(word), "{word} is missing in\n{}", said.err);
    }
    assert!(said.out.contains("mpi_show_components = false  (default)"));
}

#[test]
fn levels() {
    assert!(!run(&["--param", "btl"], &[]).out.contains("btl_base_verbose"));
    assert!(run(&["--param", "btl"], &[]).out.contains("more at higher levels"));
    assert!(run(&["--param", "btl", "--level", "9"], &[]).out.contains("btl_base_verbose = 0"));
    assert!(run(&["--all"], &[]).out.contains("btl_base_verbose = 0"));
    assert_eq!(run(&["--level", "10"], &[]).status, 2);
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let said = run(&["--param", "tymer"], &[]);
    assert_eq!(said.status, 2);
    assert_eq!(said.err, "ompi_info: there is no framework tymer; did you mean timer?\n");
    let said = run(&["--path", "lbdir"], &[]);
    assert_eq!((said.status, said.err.as_str()), (2, "ompi_info: --path lbdir is not known; did you mean libdir?\n"));
}

#[test]
fn one_dash_does_as_well() {
    let said = run(&["-param", "mpi", "-level", "9"], &[]);
    assert_eq!((said.status, &said.out), (0, &run(&["--param", "mpi", "--level", "9"], &[]).out));
    assert_eq!(run(&["-a"], &[]).out, run(&["--all"], &[]).out);
}

#[test]
fn what_the_framework_itself_has() {
    let said = run(&["--param", "btl", "base", "--level", "9"], &[]);
    assert!(said.out.contains("btl_base_verbose = 0"), "{}{}", said.out, said.err);
    let said = run(&["--param", "timer", "clock", "--level", "9"], &[]);
    assert!(said.status == 0 && !said.out.contains("timer_base_verbose"), "{}", said.out);
}

#[test]
fn a_file_is_named_with_its_line() {
    let home = std::env::temp_dir().join(format!("ompi-rs-info-{}", std::process::id()));
    std::fs::create_dir_all(home.join(".ompi-rs")).unwrap();
    std::fs::write(home.join(".ompi-rs/mca-params.conf"), "# mine\nmpi_show_components = yes\n").unwrap();
    let said = run(&["--param", "mpi"], &[("HOME", home.to_str().unwrap())]);
    let wanted = format!("mpi_show_components = true  (file {}/.ompi-rs/mca-params.conf:2)", home.display());
    std::fs::remove_dir_all(&home).unwrap();
    assert!(said.out.contains(&wanted), "{}{}", said.out, said.err);
}

#[test]
fn a_library_without_its_facts_says_so() {
    let said = run(&["--config"], &[]);
    assert!(said.status == 1 && said.err.contains("components.json"), "{}", said.err);
}

#[test]
fn json_is_json() {
    let said = run(&["--all", "--json"], &[("OMPI_MCA_btl", "^tcp")]);
    let whole: Json = serde_json::from_str(&said.out).unwrap();
    let params = whole["parameters"].as_array().unwrap();
    let btl = params.iter().find(|param| param["name"] == "btl").unwrap();
    assert_eq!((&btl["value"], &btl["source"], &btl["default"]), (&"^tcp".into(), &"environment".into(), &"".into()));
    let frameworks = whole["frameworks"].as_array().unwrap();
    let timer = frameworks.iter().find(|framework| framework["name"] == "timer").unwrap();
    assert_eq!(timer["components"][0]["name"], "clock");
}

#[test]
fn the_table_for_mpirun() {
    // Not the environment's business: the table is made once, when the library is built.
    let said = run(&["--params-json"], &[("OMPI_MCA_mpi_show_components", "perhaps")]);
    assert_eq!(said.status, 0);
    let table: Json = serde_json::from_str(&said.out).unwrap();
    let table = table.as_array().unwrap();
    let row = table.iter().find(|row| row["name"] == "mpi_show_components").unwrap();
    for key in ["name", "framework", "component", "type", "default", "unit", "level", "help"] {
        assert!(row.get(key).is_some(), "{key} is missing in {row}");
    }
    assert!(row.get("value").is_none());
    assert!(table.iter().any(|row| row["name"] == "btl"));
}

#[test]
fn parsable_lines() {
    let said = run(&["--all", "--parsable"], &[]);
    assert!(said.out.contains("\nmca:timer:clock:version:component:"), "{}", said.out);
    assert!(said.out.contains("\nmca:btl:base:param:btl_base_verbose:value:0\n"), "{}", said.out);
}

/// What scripts look for in Open MPI's output.
#[test]
fn lines_that_scripts_look_for() {
    let said = run(&[], &[]).out;
    for line in [
        "          Thread support: posix (MPI_THREAD_MULTIPLE: yes, ",
        "          MPI extensions: none\n",
        "            CUDA support: no\n",
        "        Fort use mpi_f08: no\n",
    ] {
        assert!(said.contains(line), "{line} is missing in\n{said}");
    }
    let cuda = "mca:mpi:base:param:mpi_built_with_cuda_support:value:false\n";
    for arguments in
        [&["--parsable"][..], &["--parsable", "--all"], &["--parsable", "-l", "9", "--param", "mpi", "all"]]
    {
        let said = run(arguments, &[]).out;
        assert!(said.contains(cuda), "{arguments:?}: {said}");
    }
    assert!(!run(&["--parsable", "--param", "btl"], &[]).out.contains(cuda));
    assert!(run(&["--parsable"], &[]).out.contains("\noption:threads:\"posix (MPI_THREAD_MULTIPLE: yes, "));
}

#[test]
fn types() {
    let said = run(&["--type", "bool", "-l", "9"], &[]);
    assert!(said.out.contains("mpi_show_components = ") && !said.out.contains("btl_base_verbose"), "{}", said.out);
    assert!(!said.out.contains("MPI ABI"), "{}", said.out);
    let text = run(&["-t", "version_string", "--param", "btl"], &[]).out;
    assert!(text.contains("  btl = ") && !text.contains("  timer = "), "{text}");
    let said = run(&["--type", "double"], &[]);
    assert_eq!(said.status, 2);
    assert!(said.err.contains("type double; there are int, size, bool, string, choice"), "{}", said.err);
}

#[test]
fn selected_only() {
    let environment = [("OMPI_MCA_timer", "^clock"), ("OMPI_MCA_memcpy", "^portable")];
    let said = run(&["--selected-only", "--parsable"], &environment).out;
    // The one component of a static framework runs whatever a list says.
    assert!(said.contains("mca:timer:clock:"), "{said}");
    assert_eq!(run(&["-s"], &[]).out, run(&[], &[]).out);
}

#[test]
fn versions() {
    let version = env!("CARGO_PKG_VERSION");
    for arguments in [&["--parsable"][..], &["--parsable", "--version"]] {
        assert!(run(arguments, &[]).out.contains(&format!("\nompi:version:full:{version}\n")));
    }
    let said = run(&["--show-version", "ompi:full", "--parsable"], &[]);
    assert_eq!(said.out, format!("ompi:version:full:{version}\nmpi-api:version:full:5.0\n"));
    let said = run(&["--show-version", "timer:clock", "--parsable"], &[]);
    assert_eq!(said.out, format!("mca:timer:clock:version:component:{version}\n"));
    let major = version.split('.').next().unwrap();
    let said = run(&["-v", "timer:major", "--parsable"], &[]);
    assert_eq!(said.out, format!("mca:timer:clock:version:component:major:{major}\n"));
    assert!(run(&["--show-version", "all"], &[]).out.contains("MCA timer: clock "));
    let said = run(&["--show-version", "timer:cluck"], &[]);
    assert_eq!((said.status, said.err.contains("did you mean clock?")), (2, true), "{}", said.err);
}

/// Every option of Open MPI 4 and 5 is taken; those that tell of the build need a product.
#[test]
fn options_of_open_mpi() {
    for line in [
        "-a",
        "--all",
        "-h",
        "--help",
        "--internal",
        "-l 3",
        "--level 3",
        "--mca btl sm",
        "-mca btl sm",
        "--gmca btl sm",
        "-gmca btl sm",
        "--param btl all",
        "--params btl all",
        "-t int",
        "--type int",
        "--parsable",
        "--parseable",
        "--path bindir",
        "--pretty",
        "--pretty-print",
        "-s",
        "--selected-only",
        "-V",
        "--version",
        "-v ompi:full",
        "--path mandir",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        // `--mca` starts the program again, which libtest would take for itself.
        let environment: &[(&str, &str)] = if line.contains("mca") { &[("OMPI_RS_INFO_AGAIN", "1")] } else { &[] };
        let said = run(&words, environment);
        assert!(said.status == 0 && !said.out.is_empty(), "{line}: {}{}", said.out, said.err);
    }
    for line in ["-c", "--config", "--arch", "--hostname"] {
        let said = run(&[line], &[]);
        assert!(said.status == 1 && said.err.contains("components.json"), "{line}: {}", said.err);
    }
}

#[test]
fn paths() {
    let prefix = run(&["--path", "prefix"], &[]).out.trim().to_owned();
    assert!(!prefix.ends_with('/'));
    assert_eq!(run(&["--path", "libdir"], &[]).out.trim(), format!("{prefix}/lib"));
    assert!(run(&["--path"], &[]).out.contains("sysconfdir: /etc/ompi-rs"));
}

#[test]
fn help_has_examples() {
    let said = run(&["--help"], &[]);
    assert_eq!(said.status, 0);
    assert!(said.out.contains("Examples:") && said.out.contains("--param btl sm"), "{}", said.out);
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let mut command = command(&["--all"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert!(out.by_ref().lines().any(|line| line.unwrap().ends_with(MARK)));
    drop(out);
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""));
}

const ROLE: &str = "OMPI_INFO_ROLE";
const MARK: &str = "--8<--";
