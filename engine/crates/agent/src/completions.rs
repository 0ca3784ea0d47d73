//! Shell completion: the options from the command line's definition, kinds and parameters from the catalog.

use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use proto::{Catalog, ENGINE_VERSION};
use proto::{Parameter, ValueType};

use crate::cli::CommandLine;

const PROGRAM: &str = "benchweb-engine";
/// `clap_complete` 4.6 takes the hyphen of the program's name for a command's beginning in one place of two
/// (clap-rs/clap#6421): nothing after a command would be completed.
const MISNAMED: &str = "benchweb__subcmd__engine";
const NAMED: &str = "benchweb__engine";
/// Puts the parameters of the kind on the line, and their values where there are few, before what clap completes.
const BASH_PARAMETERS: &str = include_str!("completions.bash");

/// The script that completes the command in `shell`.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_names(Catalog::embedded()), PROGRAM, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.replace(MISNAMED, NAMED) + &bash_parameters(Catalog::embedded()),
        Shell::Fish => script + &fish_kinds(Catalog::embedded()),
        Shell::Zsh => without_space(&script),
        _ => script,
    }
}

/// clap's script for fish knows no positional arguments.
fn fish_kinds(catalog: &Catalog) -> String {
    let kinds: Vec<&str> = catalog.kinds.keys().map(String::as_str).collect();
    let names = kinds.join(" ");
    format!(
        "complete -c {PROGRAM} -n \"__fish_benchweb_engine_using_subcommand run; and not __fish_seen_subcommand_from {names}\" -f -a \"{names}\"\n"
    )
}

/// A parameter is completed up to its "=": no space follows, unlike zsh's way with a list of words.
fn without_space(script: &str) -> String {
    const BEFORE: &str = ":name=value[,value]…:(";
    let Some((begin, rest)) = script.split_once(BEFORE) else { return script.to_owned() };
    let Some((names, end)) = rest.split_once(')') else { return script.to_owned() };
    format!("{begin}:name=value[,value]…:{{compadd -S \"\" - {names}}}{end}")
}

/// The command line with the catalog's names as possible values: only for completion, for a wrong name gets a better
/// refusal than clap's.
fn with_names(catalog: &Catalog) -> Command {
    let kinds = catalog.kinds.iter();
    let kinds: Vec<_> =
        kinds.map(|(name, kind)| PossibleValue::new(name).help(kind.label.clone())).collect();
    let parameters = catalog.parameters.keys();
    let parameters: Vec<_> =
        parameters.map(|name| PossibleValue::new(format!("{name}="))).collect();
    CommandLine::command().version(ENGINE_VERSION).mut_subcommand("run", |run| {
        run.mut_arg("kind", |kind| kind.value_parser(PossibleValuesParser::new(kinds)))
            .mut_arg("set", |set| set.value_parser(PossibleValuesParser::new(parameters)))
    })
}

fn bash_parameters(catalog: &Catalog) -> String {
    let (mut names, mut values) = (String::new(), String::new());
    // Writing to a String can't fail.
    for (kind, definition) in &catalog.kinds {
        let parameters: Vec<String> =
            definition.parameters.iter().map(|name| format!("{name}=")).collect();
        let _ = writeln!(names, "        {kind}) echo '{}' ;;", parameters.join(" "));
    }
    for (name, parameter) in &catalog.parameters {
        let known = known_values(parameter);
        if !known.is_empty() {
            let _ = writeln!(values, "        {name}) echo '{}' ;;", known.join(" "));
        }
    }
    BASH_PARAMETERS.replace("        @PARAMETERS@\n", &names).replace("        @VALUES@\n", &values)
}

/// All values, where they can be named.
fn known_values(parameter: &Parameter) -> Vec<String> {
    if parameter.schema.value_type == ValueType::Boolean {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    let allowed = parameter.schema.allowed.iter().flatten();
    allowed.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
#[path = "completions_tests.rs"]
mod tests;
