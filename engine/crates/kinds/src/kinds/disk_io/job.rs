//! What is to be read and written.

use std::time::Duration;

use proto::{Params, Reason, reason};

use crate::settings::{number, size, text};

/// Who measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// fio where there is one, else this engine.
    Auto,
    /// fio alone.
    Fio,
    /// This engine alone.
    Native,
}

/// A job in fio's sense.
#[derive(Debug, Clone)]
pub struct Job {
    /// Who measures.
    pub method: Method,
    /// fio's `rw`: one of the catalog's words.
    pub pattern: String,
    /// Bytes of one operation.
    pub block_bytes: usize,
    /// Operations in flight of each job.
    pub depth: usize,
    /// How many of them at once.
    pub jobs: usize,
    /// Of a mixed pattern, how many of a hundred operations are reads.
    pub read_percent: u64,
    /// Length of the file.
    pub file_bytes: u64,
    /// Past the page cache.
    pub is_direct: bool,
    /// Before the measured window.
    pub warmup: Duration,
    /// The measured window.
    pub duration: Duration,
    /// How often figures are told meanwhile.
    pub report_interval: Duration,
}

impl Job {
    /// Reads checked and filled parameters.
    pub fn read(params: &Params) -> Result<Self, Reason> {
        let seconds = |name| number(params, name).map(Duration::from_secs_f64);
        let whole = |name: &str| params.integer(name).map_err(|error| error.message);
        let job = Self {
            method: match text(params, "method")? {
                "fio" => Method::Fio,
                "native" => Method::Native,
                _ => Method::Auto,
            },
            pattern: text(params, "pattern")?.to_owned(),
            block_bytes: size(params, "block_size_bytes")?,
            depth: size(params, "depth")?,
            jobs: size(params, "jobs")?,
            read_percent: whole("read_percent")?,
            file_bytes: whole("file_size_bytes")?,
            is_direct: params.boolean("direct").map_err(|error| error.message)?,
            warmup: seconds("warmup_seconds")?,
            duration: seconds("duration_seconds")?,
            report_interval: seconds("report_interval_seconds")?,
        };
        if job.is_direct && job.block_bytes % SECTOR_BYTES != 0 {
            let bytes = job.block_bytes;
            return Err(reason!(
                "host_block_not_direct",
                bytes = bytes.to_string(),
                bytes_2 = SECTOR_BYTES.to_string()
            ));
        }
        if (job.block_bytes as u64).saturating_mul(job.jobs as u64) > job.file_bytes {
            return Err(reason!("host_file_too_small"));
        }
        Ok(job)
    }

    /// Whether operations are at random places.
    pub fn is_random(&self) -> bool {
        self.pattern.starts_with("rand")
    }

    /// How many of a hundred operations are reads.
    pub fn reads_of_hundred(&self) -> u64 {
        match self.pattern.trim_start_matches("rand") {
            "read" => 100,
            "write" => 0,
            _ => self.read_percent,
        }
    }

    /// Operations in flight of all jobs.
    pub fn in_flight(&self) -> usize {
        self.depth * self.jobs
    }
}

/// No disk has smaller ones.
const SECTOR_BYTES: usize = 512;
