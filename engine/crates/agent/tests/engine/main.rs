//! The engine's program, tried from outside; one program of all these tests is built in a fifth of the time.

#[path = "../support/mod.rs"]
mod support;

mod allowed;
mod control;
mod data_port;
mod hostile;
mod limits;
mod path_checks;
mod proof;
mod renewal;
mod run;
mod sessions;
mod sweep;
mod token_file;
