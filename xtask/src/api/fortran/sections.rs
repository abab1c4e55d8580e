//! For mpi_f08: procedures whose buffers the compiler describes, and what becomes of sections with gaps.

use super::procedure::{Argument, Class, Intent, Procedure, Rank};
use super::reach;
use super::shims::{binding, ident, plain_types};
use std::fmt::Write;

/// For mpi_f08, where the compiler describes buffers: a section that is not contiguous gets a datatype of its own.
pub fn described(procedure: &Procedure) -> String {
    let stem = procedure.stem();
    let arguments = &procedure.arguments;
    let (mut text, mut gaps) = (format!("/// {} of module mpi_f08.\n", binding(procedure)), String::new());
    let list = arguments.iter().zip(plain_types(procedure)).map(|(argument, plain)| match argument.class {
        Class::Buffer => (ident(&argument.name), "Section".to_owned()),
        Class::Text => (ident(&argument.name), "TextSection".to_owned()),
        _ => (ident(&argument.name), plain),
    });
    let (names, kinds): (Vec<String>, Vec<String>) = list.unzip();
    let parameters: Vec<String> = names.iter().zip(kinds).map(|(name, kind)| format!("{name}: {kind}")).collect();
    let parameters = format!("{}, ierror: Ierror", parameters.join(", "));
    _ = writeln!(text, "#[unsafe(no_mangle)]\nextern \"C\" fn pmpi_{stem}_f08ts_({parameters}) {{");
    let mut values: Vec<String> = arguments
        .iter()
        .map(|argument| match argument.class {
            Class::Buffer => format!("{}.start()", ident(&argument.name)),
            Class::Text => format!("{}.text()", ident(&argument.name)),
            _ => ident(&argument.name),
        })
        .collect();
    values.push("ierror".to_owned());
    values.extend(
        arguments
            .iter()
            .filter(|argument| argument.class == Class::Text)
            .map(|argument| format!("{}.length()", ident(&argument.name))),
    );
    let buffers: Vec<String> = arguments
        .iter()
        .filter(|argument| argument.class == Class::Buffer)
        .map(|argument| ident(&argument.name))
        .collect();
    if has_gaps(procedure) {
        let whole: Vec<String> = buffers.iter().map(|name| format!("{name}.is_whole()")).collect();
        // Apart, so that the usual call saves no registers for it.
        _ = writeln!(gaps, "#[cold]\n#[inline(never)]\nextern \"C\" fn {stem}_with_gaps({parameters}) {{");
        gaps += &significant(procedure);
        let none: Vec<String> = buffers.iter().map(|name| format!("{name}.is_contiguous()")).collect();
        let (none, values_of) = (none.join(" && "), values.join(", "));
        _ = writeln!(gaps, "    if {none} {{\n        return pmpi_{stem}_({values_of});\n    }}");
        let triples = triples(procedure);
        if let Some(triples) = &triples {
            gaps += &as_datatypes(procedure, triples, &values);
        }
        gaps += &match goes_on_without_request(procedure) {
            true => refused(procedure, &buffers),
            false => copied(procedure, &values, triples.is_some()),
        };
        gaps += "}\n\n";
        _ = writeln!(text, "    if !({}) {{", whole.join(" && "));
        _ = writeln!(text, "        return {stem}_with_gaps({}, ierror);\n    }}", names.join(", "));
    }
    _ = writeln!(text, "    pmpi_{stem}_({});\n}}\n", values.join(", "));
    text + &gaps
}

/// Whether it has a function of its own for sections with gaps.
pub fn has_gaps(procedure: &Procedure) -> bool {
    !starts_only(procedure)
}

/// The call with datatypes that have the gaps, if the elements of all sections hold whole numbers of the program's datatype.
fn as_datatypes(procedure: &Procedure, triples: &[(usize, String)], values: &[String]) -> String {
    let arguments = &procedure.arguments;
    let mut text = String::new();
    let mut own = values.to_vec();
    let on = object(procedure);
    // A short section is sooner copied than a datatype is made.
    let ends = !goes_on(procedure) && !goes_on_without_request(procedure);
    let layout = if ends { "layout_or_copy" } else { "layout" };
    for (at, name) in triples {
        let (count, datatype) = (ident(&arguments[at + 1].name), ident(&arguments[at + 2].name));
        _ = writeln!(
            text,
            "    let {name}_as = match {name}.{layout}({count}, {datatype}) {{ Ok(layout) => layout, Err(refusal) => return ierror.set(refusal.raise({on}, {name:?})) }};"
        );
        own[at + 1] = format!("{name}_as.count()");
        own[at + 2] = format!("{name}_as.datatype()");
    }
    let all: Vec<String> = triples.iter().map(|(_, name)| format!("{name}_as")).collect();
    let (some, those) = match all.as_slice() {
        [one] => (format!("Some({one})"), format!("&{one}")),
        _ => {
            let each = |form: fn(&String) -> String| all.iter().map(form).collect::<Vec<_>>().join(", ");
            (format!("({})", each(|one| format!("Some({one})"))), format!("({})", each(|one| format!("&{one}"))))
        }
    };
    _ = writeln!(
        text,
        "    if let {some} = {those} {{\n        return pmpi_{}_({});\n    }}",
        procedure.stem(),
        own.join(", ")
    );
    text
}

/// No copy would live long enough. The sections without a datatype of their own are refused.
fn refused(procedure: &Procedure, buffers: &[String]) -> String {
    let on = object(procedure);
    let argument = match buffers {
        [first, second] => format!("if {first}_as.is_none() {{ {first:?} }} else {{ {second:?} }}"),
        _ => format!("{:?}", buffers.first().map_or("", String::as_str)),
    };
    format!("    ierror.set(Refusal::Gaps.raise({on}, {argument}));\n")
}

/// The call with copies that have no gaps. An operation that goes on keeps them until it is complete. `measured`: it is known that the
/// sections are long enough.
fn copied(procedure: &Procedure, values: &[String], measured: bool) -> String {
    let buffers = || procedure.arguments.iter().filter(|argument| argument.class == Class::Buffer);
    let (mut text, on) = (String::new(), object(procedure));
    let mut own = values.to_vec();
    for (at, argument) in procedure.arguments.iter().enumerate().filter(|(_, one)| one.class == Class::Buffer) {
        let name = ident(&argument.name);
        let reach = if measured { "reach::measured".to_owned() } else { format!("|| {}", reach::of(procedure, at)) };
        _ = writeln!(
            text,
            "    let {name}_copy = match Copied::of({name}, {reach}) {{ Ok(copy) => copy, Err(refusal) => return ierror.set(refusal.raise({on}, {name:?})) }};"
        );
        own[at] = format!("{name}_copy.start()");
    }
    let stem = procedure.stem();
    let written = |argument: &Argument| argument.intent != Intent::In;
    if goes_on(procedure) {
        let ierror = own.iter().position(|value| value == "ierror");
        if let Some(at) = ierror {
            own[at] = "Out(&raw mut result)".to_owned();
        }
        let mut parts = buffers().map(|argument| format!("({}_copy, {})", ident(&argument.name), written(argument)));
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        let second = second.map_or_else(|| "None".to_owned(), |part| format!("Some({part})"));
        _ = writeln!(text, "    let mut result = SUCCESS;\n    pmpi_{stem}_({});", own.join(", "));
        _ = writeln!(
            text,
            "    if result == SUCCESS && !crate::pending::keep(request.variable(), {}, {first}, {second}) {{ result = NO_MEM }}",
            usage(procedure)
        );
        return text + "    ierror.set(result);\n";
    }
    _ = writeln!(text, "    pmpi_{stem}_({});", own.join(", "));
    for argument in buffers().filter(|argument| written(argument)) {
        _ = writeln!(text, "    {}_copy.copy_back();", ident(&argument.name));
    }
    text
}

/// How an operation under way uses its copies.
fn usage(procedure: &Procedure) -> &'static str {
    match (procedure.category.as_str(), procedure.name.contains("_init")) {
        ("partitioned", _) => "crate::requests::partitions(count.get(), datatype)",
        (_, true) => "Use::Persistent",
        (_, false) => "Use::Once",
    }
}

/// The buffers are in use after the call.
fn goes_on(procedure: &Procedure) -> bool {
    procedure.arguments.iter().any(Argument::is_new_request)
}

/// A synchronization of the window or the second half of a split call completes it, and neither names the operation.
fn goes_on_without_request(procedure: &Procedure) -> bool {
    (procedure.category == "rma" && !goes_on(procedure)) || procedure.name.trim_end_matches("_c").ends_with("_begin")
}

/// The object whose error handler is in force.
fn object(procedure: &Procedure) -> String {
    let of = |kind: &str| {
        let class = Class::Handle(kind.to_owned());
        let argument = procedure.arguments.iter().find(|argument| argument.class == class)?;
        Some(format!("On::{kind}({})", ident(&argument.name)))
    };
    of("File").or_else(|| of("Win")).or_else(|| of("Comm")).unwrap_or_else(|| "On::Nothing".to_owned())
}

/// Buffers that are significant at some processes alone, or with some operations, are none elsewhere.
fn significant(procedure: &Procedure) -> String {
    let when: &[(&str, &str)] = match reach::base(procedure) {
        "gather" | "gatherv" | "reduce" => &[("sendbuf", "at_leaf(root, comm)"), ("recvbuf", "at_root(root, comm)")],
        "scatter" | "scatterv" => &[("sendbuf", "at_root(root, comm)"), ("recvbuf", "at_leaf(root, comm)")],
        "bcast" => &[("buffer", "unless_bystander(root, comm)")],
        "get_accumulate" => &[("origin_addr", "unless_no_op(op)")],
        _ => &[],
    };
    when.iter().map(|(name, method)| format!("    let {name} = {name}.{method};\n")).collect()
}

/// The buffers that a count and a datatype follow at once, if that is so for all of them. The data of several processes one behind the
/// other are no repetition of one datatype with the gaps of a section.
fn triples(procedure: &Procedure) -> Option<Vec<(usize, String)>> {
    let (arguments, mut all) = (&procedure.arguments, Vec::new());
    if procedure.category == "partitioned" || reach::has_blocks(procedure) {
        return None;
    }
    for (at, argument) in arguments.iter().enumerate().filter(|(_, argument)| argument.class == Class::Buffer) {
        let count = arguments.get(at + 1)?;
        let datatype = arguments.get(at + 2)?;
        let is_count = matches!(count.class, Class::Integer | Class::Count) && count.shape == Rank::Scalar;
        if !is_count || datatype.class != Class::Handle("Datatype".to_owned()) || datatype.shape != Rank::Scalar {
            return None;
        }
        all.push((at, ident(&argument.name)));
    }
    Some(all)
}

/// Only the address matters: memory of windows and buffers, the second halves of split calls, single elements.
fn starts_only(procedure: &Procedure) -> bool {
    let name = procedure.name.trim_end_matches("_c");
    name.ends_with("_end") || ONE_ADDRESS.contains(&name)
}

const ONE_ADDRESS: &[&str] = &[
    "MPI_Get_address",
    "MPI_Free_mem",
    "MPI_Buffer_attach",
    "MPI_Comm_attach_buffer",
    "MPI_Session_attach_buffer",
    "MPI_Win_create",
    "MPI_Win_attach",
    "MPI_Win_detach",
    "MPI_Fetch_and_op",
    "MPI_Compare_and_swap",
];
