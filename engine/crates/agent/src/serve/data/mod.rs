//! Connections and datagrams on their way to their sessions.

pub mod handover;
pub mod tcp_acceptor;
pub mod udp_acceptor;
