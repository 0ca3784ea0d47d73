//! Where results go: text or JSON on standard output, JSON in a file.

use std::fs::File;
use std::io::Write as _;

use anyhow::Context as _;
use proto::{Catalog, RunResult};
use serde::Serialize;

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::run::ledger::Ledger;
use crate::run::plan::Plan;
use crate::run::report::document::{Conclusion, Failed, Repeated};
use crate::run::report::overview;
use crate::run::report::style::Style;
use crate::run::report::summary;

/// The outputs of a command.
pub struct Output {
    is_json: bool,
    file: Option<(String, File)>,
    shown_flows: usize,
    peer: String,
}

impl Output {
    /// Opens them before anything is measured, so that nothing is measured in vain.
    pub fn open(options: &RunOptions) -> Result<Self, Failure> {
        let file = options.output.as_ref().map(|path| {
            let name = path.display().to_string();
            let opened = File::create(path).map_err(|error| {
                Failure::Usage(format!("can't write to {name}: {error}; name another file"))
            });
            opened.map(|file| (name, file))
        });
        Ok(Self {
            is_json: options.json,
            file: file.transpose()?,
            shown_flows: options.show_flows,
            peer: options.peer.clone().unwrap_or_default(),
        })
    }

    /// A test that ended well.
    pub fn result(
        &mut self,
        plan: &Plan,
        repetition: usize,
        result: &RunResult,
    ) -> Result<(), Failure> {
        if plan.is_single() {
            let written = self.document(result);
            // What was measured is shown, even if the file can't be written.
            return self.text(&self.summary(result)).and(written);
        }
        self.document(&Repeated { repetition, result })
    }

    /// A test that failed; what was measured of it is kept.
    pub fn failure(
        &mut self,
        plan: &Plan,
        index: usize,
        repetition: usize,
        failure: &Failure,
        partial: Option<&RunResult>,
    ) -> Result<(), Failure> {
        if !plan.is_single() {
            return self.document(&Failed::new(plan, index, repetition, failure, partial));
        }
        let Some(partial) = partial else { return Ok(()) };
        let written = self.document(partial);
        self.text(&self.summary(partial)).and(written)
    }

    /// The end of several tests: what they have in common and what not.
    pub fn conclude(&mut self, ledger: &Ledger<'_>) -> Result<(), Failure> {
        if ledger.plan.is_single() {
            return Ok(());
        }
        let measured = |index: &usize| ledger.tracks[*index].attempts() > 0;
        for index in (0..ledger.tracks.len()).filter(measured) {
            self.document(&Conclusion::new(ledger, index))?;
        }
        self.text(&overview::of(ledger, Catalog::embedded(), &self.peer, Style::of_output()))?;
        // Loud also where the figures go to a file or a program.
        if let Some(warning) = overview::warning(ledger, Catalog::embedded()) {
            note!("{}", Style::of_errors().alarm(&warning));
        }
        Ok(())
    }

    fn summary(&self, result: &RunResult) -> String {
        let style = Style::of_output();
        summary::of(result, Catalog::embedded(), &self.peer, self.shown_flows, style)
    }

    fn text(&self, text: &str) -> Result<(), Failure> {
        if self.is_json { Ok(()) } else { crate::write_line(text) }
    }

    fn document(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        if !self.is_json && self.file.is_none() {
            return Ok(());
        }
        let text = serde_json::to_string(document).map_err(anyhow::Error::from)?;
        let printed = if self.is_json { crate::write_line(&text) } else { Ok(()) };
        if let Some((name, file)) = self.file.as_mut() {
            writeln!(file, "{text}").with_context(|| format!("can't write to {name}"))?;
        }
        printed
    }
}
