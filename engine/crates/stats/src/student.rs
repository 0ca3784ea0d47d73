//! Student's t distribution, for whole degrees of freedom.

use std::f64::consts::FRAC_PI_2;

/// Halvings of a quarter circle: more than the 53 bits of a `f64` resolve nothing.
const HALVINGS: u32 = 60;

/// The value that Student's t stays within, on both sides of 0, with probability `level` (0 to 1, exclusive).
#[must_use]
pub fn two_sided_quantile(level: f64, degrees_of_freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if probability_within(middle, degrees_of_freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    low.tan() * (degrees_of_freedom as f64).sqrt()
}

/// P(|t| < tan(angle)·√ν): Abramowitz and Stegun, 26.7.3 (ν odd) and 26.7.4 (ν even), finite sums.
fn probability_within(angle: f64, degrees_of_freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees_of_freedom % 2 == 1;
    if degrees_of_freedom == 1 {
        return angle / FRAC_PI_2;
    }
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = term;
    let mut factor = if is_odd { 2 } else { 1 };
    while factor + 2 < degrees_of_freedom {
        term *= cosine * cosine * factor as f64 / (factor + 1) as f64;
        sum += term;
        factor += 2;
    }
    if is_odd { (angle + sine * sum) / FRAC_PI_2 } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::two_sided_quantile;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (level, freedom, printed) in [
            (0.95, 1, 12.706),
            (0.95, 2, 4.303),
            (0.95, 3, 3.182),
            (0.95, 4, 2.776),
            (0.95, 9, 2.262),
            (0.95, 29, 2.045),
            (0.95, 30, 2.042),
            (0.95, 120, 1.980),
            (0.99, 1, 63.657),
            (0.99, 2, 9.925),
            (0.99, 3, 5.841),
            (0.99, 9, 3.250),
            (0.99, 29, 2.756),
            (0.99, 30, 2.750),
            (0.90, 5, 2.015),
            (0.999, 10, 4.587),
        ] {
            let found = two_sided_quantile(level, freedom);
            assert!((found - printed).abs() < 6e-4, "t({level}, {freedom}) = {found}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_approach_the_normal_distribution() {
        assert!((two_sided_quantile(0.95, 100_000) - 1.959_98).abs() < 1e-4);
    }

    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        let exact = 0.99 * (2.0_f64 / (1.0 - 0.99 * 0.99)).sqrt();
        assert!((two_sided_quantile(0.99, 2) - exact).abs() < 1e-9);
    }
}
