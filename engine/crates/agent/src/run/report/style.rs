//! Colours, where a person looks at a terminal that has them.

use std::io::{self, IsTerminal as _};

/// How text is set off on one stream.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    has_colours: bool,
}

impl Style {
    /// That of standard output.
    pub fn of_output() -> Self {
        Self { has_colours: io::stdout().is_terminal() && colours_are_welcome() }
    }

    /// That of standard error.
    pub fn of_errors() -> Self {
        Self { has_colours: io::stderr().is_terminal() && colours_are_welcome() }
    }

    /// No colours.
    #[cfg(test)]
    pub const fn plain() -> Self {
        Self { has_colours: false }
    }

    /// A heading or a headline figure.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What matters less.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What qualifies a result.
    pub fn notice(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What must not be overlooked.
    pub fn alarm(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// `NO_COLOR` (no-color.org): set to anything but nothing, there are none.
fn colours_are_welcome() -> bool {
    let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    is_set("NO_COLOR").is_none() && is_set("TERM").is_some_and(|terminal| terminal != "dumb")
}
