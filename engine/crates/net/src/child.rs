//! Programs that don't outlive the thread that started them.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes a program that is started end by SIGKILL when the thread that starts it ends, however that is.
pub fn tie_to_this_thread(command: &mut Command) {
    let parent = std::process::id();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // A parent that ended before that call sends no signal any more.
        // SAFETY: getppid() has no preconditions.
        let has_parent = u32::try_from(unsafe { libc::getppid() }).is_ok_and(|now| now == parent);
        if has_parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ECHILD)) }
    };
    // SAFETY: between fork and exec it makes two system calls, and allocates nothing.
    unsafe { command.pre_exec(tie) };
}
