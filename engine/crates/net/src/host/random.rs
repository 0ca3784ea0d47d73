//! Random numbers from the kernel, whatever its age, with nothing but this program in the file system.

use std::fs::File;
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Where kernels before 3.17, which have no `getrandom()`, give random bytes.
const DEVICE: &str = "/dev/urandom";

/// Fills `bytes` with random bytes.
///
/// # Errors
/// When the kernel has no `getrandom()` and `/dev/urandom` can't be read.
pub fn fill_random(bytes: &mut [u8]) -> io::Result<()> {
    let mut place = 0;
    while place < bytes.len() {
        match getrandom(&mut bytes[place..], GetRandomFlags::empty()) {
            Ok(count) => place += count,
            Err(Errno::INTR) => {}
            Err(Errno::NOSYS) => return from_device(&mut bytes[place..]),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A random number.
///
/// # Errors
/// As [`fill_random`].
pub fn random_number() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill_random(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn from_device(bytes: &mut [u8]) -> io::Result<()> {
    let explain = |error: io::Error| {
        let message = format!("this kernel has no getrandom() and {DEVICE} can't be read: {error}");
        io::Error::new(error.kind(), message)
    };
    File::open(DEVICE).and_then(|mut device| device.read_exact(bytes)).map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::{fill_random, from_device};

    #[test]
    fn both_ways_fill_every_byte_and_differ_each_time() {
        for fill in [fill_random, from_device] {
            let mut draws = [[0_u8; 64]; 2];
            for draw in &mut draws {
                fill(draw).expect("this machine has random bytes");
            }
            assert_ne!(draws[0], draws[1]);
            assert!(draws[0][56..].iter().any(|&byte| byte != 0));
        }
    }
}
