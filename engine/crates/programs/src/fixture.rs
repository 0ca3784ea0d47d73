//! The engine with one kind more, for the test that a new kind needs no other change.

fn main() -> std::process::ExitCode {
    kinds::fixture::add();
    agent::main()
}
