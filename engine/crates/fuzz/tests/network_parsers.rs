//! No input makes a parser panic or take more memory than a multiple of the input's length.
//!
//! `BENCHWEB_FUZZ_CASES=1000000 cargo test --release -p fuzz -- --nocapture` is the long run; `BENCHWEB_FUZZ_SEED` begins elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use fuzz::{Mutator, Target, targets};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const CASES: usize = 20_000;
/// JSON's least elements are two bytes and take a record each; lists double when they grow.
const BYTES_PER_INPUT_BYTE: usize = 64;
/// Error texts, and what is allocated once.
const BYTES_BESIDE: usize = 64 * 1024;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn run(target: &Target, cases: usize, seed: u64) {
    let mut mutator = Mutator::new(seed);
    for whole in &target.whole {
        let shown = String::from_utf8_lossy(whole);
        assert!((target.parse)(whole), "{} doesn't take {shown:?}", target.name);
    }
    let (begin, mut most) = (Instant::now(), 0);
    for case in 0..cases {
        let input = mutator.input(&target.whole);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.parse)(&input)));
        let taken = ALLOCATOR.peak_usage().saturating_sub(before);
        let shown = String::from_utf8_lossy(&input);
        assert!(outcome.is_ok(), "{}: case {case} of seed {seed} panicked: {shown:?}", target.name);
        let allowed = BYTES_BESIDE + BYTES_PER_INPUT_BYTE * input.len();
        assert!(
            taken <= allowed,
            "{}: case {case} of seed {seed} took {taken} B for {} B: {shown:?}",
            target.name,
            input.len()
        );
        most = most.max(taken);
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{:24}{cases:>9} inputs in {seconds:6.1} s, at most {most:>9} B at once", target.name);
}

// One test, so that nothing else allocates meanwhile.
#[test]
fn no_input_makes_a_parser_panic_or_take_memory_without_bound() {
    let (cases, seed) = (number("BENCHWEB_FUZZ_CASES", CASES), number("BENCHWEB_FUZZ_SEED", 1));
    for target in targets() {
        run(&target, cases, u64::try_from(seed).unwrap_or(1));
    }
}
