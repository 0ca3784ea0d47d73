//! Memory bandwidth: mbw's three ways to copy and STREAM's four kernels, on one core or several at once.
//!
//! Every pass begins at one barrier and is timed from the first core's begin to the last one's end: rates of cores that
//! work at different times would sum to what no host has.

mod cache;
mod kernels;
mod passes;

use std::time::Duration;

use proto::{CoreRate, DiskPlace, FailureCode, HostTest, MemoryUse, Params, Reason, reason};

use crate::failure::Failure;
use crate::host_kind::{Broken, HostKind, HostReport, Stage, metrics};
use kernels::Kernel;
pub use kernels::copy;
use passes::{Arrays, Pass, Passes};

/// Arrays are so many times as large as the caches at least, or the caches are measured (STREAM's rule).
const CACHES: u64 = 4;
/// Where nobody tells of the caches.
const FALLBACK_BYTES: u64 = 256 << 20;
/// However small the caches, and however many cores share them.
const LEAST_BYTES: u64 = 32 << 20;
/// Elements are of 8 bytes; every core's part is a whole number of pages.
const PAGE_BYTES: u64 = 4096;
/// How often passes are told of.
const TELLING: Duration = Duration::from_millis(500);

/// The kind.
struct MemoryBandwidth {
    kernel: Kernel,
    array_bytes: u64,
    cache_bytes: Option<u64>,
    cpus: Vec<usize>,
    passes: usize,
}

/// Bytes that the arrays of a test take; 0 for a test of another kind.
#[must_use]
pub fn arrays_bytes(params: &Params) -> f64 {
    let Ok(kernel) = params.text("kernel").map(Kernel::named) else { return 0.0 };
    let cores = core_count(params);
    let array = array_bytes(params, kernel, cores, cache::last_level_bytes());
    let owners = if kernel.has_own_arrays() { cores as u64 } else { 1 };
    (array * owners * kernel.arrays()) as f64
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, _places: &[DiskPlace]) -> Result<Box<dyn HostKind>, Failure> {
    let invalid = |reason: Reason| Failure::new(FailureCode::Invalid, reason);
    let number = |name| params.integer(name).map_err(|error| invalid(error.message));
    let kernel = Kernel::named(params.text("kernel").map_err(|error| invalid(error.message))?);
    let cpus = chosen_cpus(params).map_err(invalid)?;
    let cache_bytes = cache::last_level_bytes();
    Ok(Box::new(MemoryBandwidth {
        kernel,
        array_bytes: array_bytes(params, kernel, cpus.len(), cache_bytes),
        cache_bytes,
        cpus,
        passes: usize::try_from(number("passes")?).unwrap_or(usize::MAX),
    }))
}

/// The length of one array, a whole number of pages for each core.
fn array_bytes(params: &Params, kernel: Kernel, cores: usize, cache_bytes: Option<u64>) -> u64 {
    let cores = cores.max(1) as u64;
    let asked = params.integer("array_bytes").unwrap_or(0);
    let own = kernel.has_own_arrays();
    let bytes = match (asked, cache_bytes) {
        (0, Some(cache)) if own => (CACHES * cache / cores).max(LEAST_BYTES),
        (0, Some(cache)) => (CACHES * cache).max(LEAST_BYTES),
        (0, None) => FALLBACK_BYTES,
        (asked, _) => asked,
    };
    let parts = if own { 1 } else { cores };
    bytes.div_ceil(PAGE_BYTES * parts) * PAGE_BYTES * parts
}

/// How many cores are asked for; 0 is all that there are.
fn core_count(params: &Params) -> usize {
    let asked = usize::try_from(params.integer("cores").unwrap_or(1)).unwrap_or(1);
    if asked > 0 { asked } else { net::allowed_cpus().len().max(1) }
}

/// The CPUs to pin to: those that are listed, else the first of those that this process may use.
fn chosen_cpus(params: &Params) -> Result<Vec<usize>, Reason> {
    let allowed = net::allowed_cpus();
    let text = params.text("cpus").map_err(|error| error.message)?;
    let listed =
        net::parse_cpu_list(text).ok_or_else(|| reason!("host_no_cpu_list", text = text))?;
    if let Some(missing) = listed.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(reason!("host_cpu_missing", number = missing.to_string()));
    }
    let from = if listed.is_empty() { allowed } else { listed };
    let asked = params.integer("cores").map_err(|error| error.message)?;
    let asked = usize::try_from(asked).unwrap_or(usize::MAX);
    let count = if asked == 0 { from.len() } else { asked };
    if count > from.len() || count == 0 {
        let (asked, number) = (asked.to_string(), from.len().to_string());
        return Err(reason!("host_too_few_cores", asked = asked, number = number));
    }
    Ok(from[..count].to_vec())
}

impl HostKind for MemoryBandwidth {
    fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    fn run(&self, stage: &mut Stage) -> Result<HostReport, Broken> {
        let mut arrays = Arrays::new(self.kernel, self.array_bytes, self.cpus.len())
            .map_err(|reason| Failure::new(FailureCode::Limit, reason))?;
        let passes = Passes::run(self.kernel, &mut arrays, &self.cpus, self.passes, stage, TELLING);
        match stage.stop.order() {
            None => Ok(self.report(&passes)),
            Some(failure) => {
                let partial = (passes.done.len() > 1).then(|| Box::new(self.report(&passes)));
                Err(Broken { failure, partial })
            }
        }
    }
}

impl MemoryBandwidth {
    /// Bytes that count as moved in a pass by all cores: mbw counts what was copied once, STREAM what was read and
    /// written.
    fn pass_bytes(&self) -> u64 {
        let owners = if self.kernel.has_own_arrays() { self.cpus.len() as u64 } else { 1 };
        self.array_bytes * owners * self.kernel.counted_arrays()
    }

    fn report(&self, passes: &Passes) -> HostReport {
        let bytes = self.pass_bytes();
        // The first pass warms up, unless it is the only one.
        let counted = if passes.done.len() > 1 { &passes.done[1..] } else { &passes.done[..] };
        let seconds: Vec<f64> = counted.iter().map(Pass::seconds).collect();
        let rate = |seconds: f64| bytes as f64 / seconds;
        let best = counted.iter().min_by(|one, other| one.seconds().total_cmp(&other.seconds()));
        let longest = seconds.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = seconds.iter().sum();
        let cores = best.map(|pass| self.cores(pass)).unwrap_or_default();
        let each = || cores.iter().map(|core| core.bytes_per_second);
        HostReport {
            metrics: metrics([
                ("memory_bytes_per_second", best.map_or(f64::NAN, |pass| rate(pass.seconds()))),
                ("memory_mean_bytes_per_second", rate(total) * seconds.len() as f64),
                ("memory_least_bytes_per_second", rate(longest)),
                ("fastest_core_bytes_per_second", each().fold(f64::NAN, f64::max)),
                ("slowest_core_bytes_per_second", each().fold(f64::NAN, f64::min)),
            ]),
            bytes: bytes * passes.done.len() as u64,
            histogram: None,
            flags: self.flags(passes),
            cpu_seconds: 0.0,
            test: HostTest {
                variant: "native".to_owned(),
                memory: Some(MemoryUse {
                    array_bytes: self.array_bytes,
                    cache_bytes: self.cache_bytes,
                    pass_bytes: bytes,
                    pass_seconds: passes.done.iter().map(Pass::seconds).collect(),
                    cores,
                }),
                ..HostTest::default()
            },
        }
    }

    fn cores(&self, pass: &Pass) -> Vec<CoreRate> {
        let part = self.pass_bytes() as f64 / self.cpus.len() as f64;
        let rates = self.cpus.iter().zip(&pass.spans).map(|(&cpu, &(begin, end))| CoreRate {
            cpu: u32::try_from(cpu).unwrap_or(u32::MAX),
            bytes_per_second: part / (end - begin).as_secs_f64(),
        });
        rates.collect()
    }

    fn flags(&self, passes: &Passes) -> Vec<String> {
        let owners = if self.kernel.has_own_arrays() { self.cpus.len() as u64 } else { 1 };
        let is_cached =
            self.cache_bytes.is_some_and(|cache| self.array_bytes * owners < CACHES * cache);
        let held = [
            ("arrays_near_cache", is_cached),
            ("cache_unknown", self.cache_bytes.is_none()),
            ("affinity_not_set", passes.has_unpinned),
        ];
        held.into_iter().filter(|(_, holds)| *holds).map(|(flag, _)| flag.to_owned()).collect()
    }
}
