//! The data ports: connections and datagrams on their way to their sessions.

pub mod data_ports;
pub mod far;
pub mod handover;
pub mod path_checks;
pub mod tcp_acceptor;
pub mod udp_acceptor;
