//! Histograms and intervals: pure functions, no I/O and no clock.
