//! What is printed of results.

pub mod document;
pub mod output;
pub mod overview;
pub mod partial;
pub mod style;
pub mod summary;
pub mod table;
pub mod units;
