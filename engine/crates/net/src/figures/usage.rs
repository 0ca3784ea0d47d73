//! CPU time of this process.

/// User and system time of all threads so far, in seconds.
#[must_use]
pub fn process_cpu_seconds() -> f64 {
    cpu_seconds(libc::RUSAGE_SELF)
}

/// The same of the programs that this process started and waited for.
#[must_use]
pub fn children_cpu_seconds() -> f64 {
    cpu_seconds(libc::RUSAGE_CHILDREN)
}

fn cpu_seconds(whose: libc::c_int) -> f64 {
    // SAFETY: `rusage` is plain integers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writes; both that are asked for always exist.
    unsafe { libc::getrusage(whose, &raw mut usage) };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[allow(clippy::cast_precision_loss)] // CPU seconds of a process fit 53 bits.
fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Time that the calling thread has spent on a CPU so far, in seconds.
#[must_use]
pub fn thread_cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    #[allow(clippy::cast_precision_loss)] // As above.
    let (whole, part) = (time.tv_sec as f64, time.tv_nsec as f64);
    whole + part / 1e9
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::thread_cpu_seconds;

    #[test]
    fn a_thread_uses_cpu_time_when_it_works_and_none_when_it_sleeps() {
        let begin = thread_cpu_seconds();
        let until = Instant::now() + Duration::from_millis(30);
        while Instant::now() < until {}
        let worked = thread_cpu_seconds();
        std::thread::sleep(Duration::from_millis(30));
        assert!(worked - begin > 0.005, "worked {} s", worked - begin);
        assert!(thread_cpu_seconds() - worked < 0.005);
    }
}
