//! The engine's program.

fn main() -> std::process::ExitCode {
    agent::main()
}
