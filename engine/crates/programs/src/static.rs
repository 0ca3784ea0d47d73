//! The engine's program, to be linked with the C library inside.

fn main() -> std::process::ExitCode {
    agent::main()
}
