//! The data ports, and who has been announced there.

pub mod data_ports;
pub mod far;
pub mod path_checks;
