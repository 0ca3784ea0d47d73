use std::process::Command;

use super::*;

/// What bash offers after `words`, the last of them being written.
fn offered(words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let position = words.len() - 1;
    let asked = format!(
        "{}\nCOMP_WORDS=({}); COMP_CWORD={position}; _benchweb_engine_complete benchweb-engine '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script(Shell::Bash),
        quoted.join(" "),
        words[position],
        words[position.saturating_sub(1)],
    );
    let output = Command::new("bash").args(["--norc", "-c", &asked]).output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(complaints.is_empty(), "{complaints}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_options_and_kinds() {
    assert_eq!(offered(&["benchweb-engine", "comp"]), ["completions"]);
    assert_eq!(offered(&["benchweb-engine", "run", "--conf"]), ["--confidence", "--confidence-on"]);
    assert_eq!(offered(&["benchweb-engine", "run", "udp_"]), ["udp_rr", "udp_stream"]);
    assert_eq!(
        offered(&["benchweb-engine", "run", "tcp_rr", "--order", ""]),
        ["interleaved", "sequential"]
    );
}

#[test]
fn bash_offers_the_parameters_of_the_kind_on_the_line() {
    let line = ["benchweb-engine", "run", "tcp_rr", "--set", "re"];
    let expected = ["request_size_bytes=", "response_size_bytes=", "report_interval_seconds="];
    assert_eq!(offered(&line), expected);
    let line = ["benchweb-engine", "run", "tcp_stream", "--set", "request"];
    assert!(offered(&line).is_empty());
}

#[test]
fn bash_offers_the_values_that_can_be_named() {
    let line = ["benchweb-engine", "run", "tcp_stream", "--set", "direction", "="];
    assert_eq!(offered(&line), ["forward", "reverse", "bidirectional"]);
    let line = ["benchweb-engine", "run", "tcp_stream", "--set", "nodelay", "=", "t"];
    assert_eq!(offered(&line), ["true"]);
}

#[test]
fn every_shell_gets_the_kinds() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        assert!(script(shell).contains("message_size_bytes="), "{shell}");
    }
    assert!(script(Shell::Fish).contains("tcp_crr tcp_rr tcp_stream"));
    assert!(script(Shell::Zsh).contains("{compadd -S \"\" - array_bytes= "));
}
