//! Manual pages, from the command line's definition, the exit codes and the catalog.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use proto::{Catalog, ENGINE_VERSION};
use proto::{Parameter, ValueType};

use crate::cli::CommandLine;
use crate::failure::{EXIT_CODES, Failure};

const MANUAL: &str = "benchweb";
/// When the pages' own words last changed.
const DATE: &str = "2026-11-21";
const EXAMPLES: [(&str, &str); 6] = [
    (
        "Serve tests on this host's address",
        "benchweb-engine serve --listen 192.0.2.10 --state-dir /var/lib/benchweb-engine --token-file /etc/benchweb-engine.token",
    ),
    (
        "Measure a stream to it for ten seconds",
        "benchweb-engine run tcp_stream --peer 192.0.2.10 --token-file token",
    ),
    (
        "Sweep the message size, each three times",
        "benchweb-engine run tcp_stream --peer 192.0.2.10 --token-file token --set message_size_bytes=64,1024,16384 --repetitions 3",
    ),
    (
        "Repeat until the interval is narrow, as netperf -I 99,5 -i 30,3",
        "benchweb-engine run tcp_rr --peer 192.0.2.10 --token-file token --confidence 99,5 --repetitions 3-30",
    ),
    (
        "CPU lists hold commas: semicolons set them apart",
        "benchweb-engine run tcp_rr --peer 192.0.2.10 --token-file token --set 'source_cpus=0;0,1'",
    ),
    (
        "Complete the command in bash",
        "benchweb-engine completions bash > /etc/bash_completion.d/benchweb-engine",
    ),
];
const FILES: [(&str, &str); 3] = [
    (
        "TOKEN-FILE",
        "The bearer token, in one line. Make one with: (umask 077; openssl rand -hex 32 > FILE)",
    ),
    (
        "STATE-DIR/listening.json",
        "The addresses, the data port and the fingerprint of the serving engine.",
    ),
    (
        "STATE-DIR",
        "Further: the certificate and its key, and results until a controller has acknowledged them.",
    ),
];
const ENVIRONMENT: [(&str, &str); 1] =
    [("NO_COLOR", "If set and not empty, nothing is coloured; else a terminal's output is.")];

/// The page of the program, or of one of its commands.
///
/// # Errors
/// When there is no such command.
pub fn page(command: Option<&str>) -> Result<String, Failure> {
    let program = program();
    let Some(name) = command else { return Ok(render(&program, &all_sections())?) };
    let found = program.get_subcommands().find(|command| command.get_name() == name);
    let found = found.ok_or_else(|| {
        let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        Failure::Usage(format!("there is no command {name:?}; there are {}", known.join(", ")))
    })?;
    Ok(command_page(found)?)
}

/// Writes every page into a folder.
///
/// # Errors
/// When the folder can't be written to.
pub fn write_all(folder: &Path) -> Result<(), Failure> {
    let place = || format!("can't write into {}", folder.display());
    fs::create_dir_all(folder).with_context(place)?;
    let program = program();
    let whole = render(&program, &all_sections())?;
    fs::write(folder.join("benchweb-engine.1"), whole).with_context(place)?;
    for command in program.get_subcommands() {
        let name = format!("benchweb-engine-{}.1", command.get_name());
        fs::write(folder.join(name), command_page(command)?).with_context(place)?;
    }
    Ok(())
}

fn program() -> Command {
    CommandLine::command().version(ENGINE_VERSION).disable_help_subcommand(true)
}

fn command_page(command: &Command) -> anyhow::Result<String> {
    let name = command.get_name();
    let sections = if name == "run" { run_sections() } else { Vec::new() };
    let full = format!("benchweb-engine-{name}");
    let named = command.clone().name(full).bin_name(format!("benchweb-engine {name}"));
    render(&named.version(ENGINE_VERSION), &sections)
}

fn all_sections() -> Vec<Roff> {
    let mut sections = run_sections();
    sections.insert(0, pairs("FILES", &FILES));
    sections
}

fn run_sections() -> Vec<Roff> {
    let codes = EXIT_CODES.map(|(code, meaning)| (code.to_string(), meaning.to_owned()));
    let mut sections =
        vec![pairs("EXIT STATUS", &codes), pairs("ENVIRONMENT", &ENVIRONMENT), examples()];
    sections.extend([kinds(Catalog::embedded()), parameters(Catalog::embedded())]);
    sections
}

fn render(command: &Command, sections: &[Roff]) -> anyhow::Result<String> {
    let man = Man::new(command.clone()).manual(MANUAL).date(DATE);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    for section in sections {
        section.to_writer(&mut page)?;
    }
    Ok(String::from_utf8(page)?)
}

/// A section of terms and what they mean.
fn pairs<T: AsRef<str>, M: AsRef<str>>(title: &str, pairs: &[(T, M)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (term, meaning) in pairs {
        entry(&mut roff, vec![bold(term.as_ref())], meaning.as_ref());
    }
    roff
}

fn entry(roff: &mut Roff, term: Vec<Inline>, meaning: &str) {
    roff.control("TP", []);
    roff.text(term);
    roff.text([roman(meaning)]);
}

fn examples() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    for (meaning, command) in EXAMPLES {
        entry(&mut roff, vec![roman(format!("{meaning}:"))], command);
    }
    roff
}

fn kinds(catalog: &Catalog) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["TEST KINDS"]);
    for (name, kind) in &catalog.kinds {
        let parameters = kind.parameters.join(", ");
        let meaning = format!("{} Parameters: {parameters}.", kind.summary);
        entry(&mut roff, vec![bold(name)], &meaning);
    }
    roff
}

fn parameters(catalog: &Catalog) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["PARAMETERS"]);
    for (name, parameter) in &catalog.parameters {
        let term = vec![bold(name), roman(format!("={}", value_of(parameter)))];
        entry(&mut roff, term, &format!("{} {}", parameter.help, bounds(parameter)));
    }
    roff
}

fn value_of(parameter: &Parameter) -> String {
    if let Some(allowed) = &parameter.schema.allowed {
        let values = allowed.iter().filter_map(|value| value.as_str());
        return values.collect::<Vec<_>>().join("|");
    }
    match parameter.schema.value_type {
        ValueType::Integer | ValueType::Number => {
            parameter.unit.clone().unwrap_or_else(|| "number".to_owned())
        }
        ValueType::String => "text".to_owned(),
        ValueType::Boolean => "true|false".to_owned(),
        ValueType::Test => "none|kind|JSON".to_owned(),
    }
}

fn bounds(parameter: &Parameter) -> String {
    let schema = &parameter.schema;
    let default = match &schema.default {
        serde_json::Value::String(text) if text.is_empty() => "Default: empty.".to_owned(),
        serde_json::Value::String(text) => format!("Default: {text}."),
        serde_json::Value::Null => "Default: none.".to_owned(),
        value => format!("Default: {value}."),
    };
    match (schema.minimum, schema.maximum) {
        (Some(minimum), Some(maximum)) => format!("From {minimum} to {maximum}. {default}"),
        _ => default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_exit_code_kind_and_parameter() {
        let page = page(None).unwrap().replace("\\-", "-").replace("\\*(Aq", "'");
        for section in ["NAME", "SYNOPSIS", "OPTIONS", "FILES", "ENVIRONMENT", "EXAMPLES"] {
            assert!(page.contains(&format!(".SH {section}")), "{section}");
        }
        for (code, meaning) in EXIT_CODES {
            assert!(page.contains(&format!("\\fB{code}\\fR\n{meaning}")), "{code}");
        }
        let catalog = Catalog::embedded();
        for name in catalog.kinds.keys().chain(catalog.parameters.keys()) {
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}");
        }
        for command in program().get_subcommands() {
            assert!(page.contains(&format!("benchweb-engine-{}(1)", command.get_name())));
        }
    }

    #[test]
    fn each_command_has_a_page_of_its_own() {
        let run = page(Some("run")).unwrap().replace("\\-", "-");
        assert!(run.contains("--confidence") && run.contains("EXIT STATUS"), "{run}");
        assert!(matches!(page(Some("fly")), Err(Failure::Usage(_))));
    }

    #[test]
    fn the_documentation_has_the_same_exit_codes() {
        let documentation = include_str!("../../../../docs/engine.md");
        for (code, meaning) in EXIT_CODES {
            let meaning = meaning.replace("--allow", "`--allow`");
            assert!(documentation.contains(&format!("| {code} | {meaning} |")), "{code}");
        }
    }
}
