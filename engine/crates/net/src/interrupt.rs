//! Waking a thread out of a blocking call on a socket that may not be shut down.

use std::sync::Once;

use rustix::thread::gettid;

/// Ignored by default, so that a stray one harms nobody.
const SIGNAL: libc::c_int = libc::SIGURG;

/// A thread that another may interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterruptibleThread(i32);

impl InterruptibleThread {
    /// The calling thread.
    #[must_use]
    pub fn this() -> Self {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        Self(gettid().as_raw_nonzero().get())
    }

    /// Ends the blocking call that the thread is in, if any, with `EINTR`. Between two calls it has no effect: who must
    /// be sure repeats it. A thread that has ended is not found.
    pub fn interrupt(self) {
        // SAFETY: the call takes three numbers and touches no memory. Naming the process too keeps it inside.
        unsafe {
            libc::syscall(libc::SYS_tgkill, libc::getpid(), self.0, SIGNAL);
        }
    }
}

/// Lets the signal interrupt: without a handler it is ignored, and with `SA_RESTART` the call goes on.
fn install_handler() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: an all-zero `sigaction` is valid (no flags, empty mask); the handler is a function of the expected type
    // that does nothing, hence is async-signal-safe; the old action is not asked for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsFd;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::InterruptibleThread;
    use crate::Errno;

    #[test]
    fn a_blocked_accept_ends_with_eintr_and_the_listener_still_accepts() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let copy = listener.try_clone().unwrap();
        let (told, heard) = channel();
        let blocked = thread::spawn(move || {
            told.send(InterruptibleThread::this()).unwrap();
            crate::accept(copy.as_fd()).map(|_| ())
        });
        let blocked_thread = heard.recv().unwrap();
        while !blocked.is_finished() {
            blocked_thread.interrupt();
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(blocked.join().unwrap(), Err(Errno::INTR));
        let address = listener.local_addr().unwrap();
        let _client = std::net::TcpStream::connect(address).unwrap();
        assert!(crate::accept(listener.as_fd()).is_ok());
    }
}
