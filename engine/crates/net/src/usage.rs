//! CPU time of this process.

/// User and system time of all threads so far, in seconds.
#[must_use]
pub fn process_cpu_seconds() -> f64 {
    // SAFETY: `rusage` is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writes; RUSAGE_SELF always exists.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[allow(clippy::cast_precision_loss)] // CPU seconds of a process fit 53 bits.
fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}
