//! Every kind end to end on loopback; one program of all these tests is built in a fifth of the time.

#[path = "../support/mod.rs"]
mod support;

mod course;
mod endings;
mod http;
mod ping;
mod requests;
mod send_modes;
mod streams;
mod tcp_figures;
