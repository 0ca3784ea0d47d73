//! Test equipment: a wire between two network namespaces, as long, thin, lossy or cut as it is told to be.

use clap::Parser;

fn main() -> anyhow::Result<()> {
    wire::run(&wire::Options::parse())
}
