//! A copy that no compiler turns into another one.

/// Copies element by element, 8 bytes at a time, as far as the shorter slice goes.
#[inline(never)]
pub fn copy_by_element(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: both are references to initialised elements. Volatile accesses are neither joined nor made a `memcpy`.
        unsafe { std::ptr::write_volatile(to, std::ptr::read_volatile(from)) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn elements_are_copied() {
        let mut to = [0.0; 3];
        super::copy_by_element(&mut to, &[1.0, 2.0, 3.0]);
        assert_eq!(to.map(f64::to_bits), [1.0, 2.0, 3.0].map(f64::to_bits));
    }
}
