//! What is done for sessions while they run: listened to, told of each other, ended when nobody wants them.

pub mod neighbours;
pub mod process;
pub mod watchdog;
