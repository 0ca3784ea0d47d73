//! What a test of one host tells beside its metrics.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a test of one host was made, and on what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostTest {
    /// Who measured, with its version: `native` for the engine itself, else such as `fio 3.33`.
    pub variant: String,
    /// The memory that was read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// The file or device that was read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskUse>,
    /// What the tool printed, where one measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_document: Option<Value>,
}

/// What a memory test ran over, pass by pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryUse {
    /// Length of one array; of mbw's kernels each core has arrays of its own, of STREAM's all cores share them.
    pub array_bytes: u64,
    /// All of the host's last-level caches together, where the kernel tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// Bytes that count as moved in one pass, all cores.
    pub pass_bytes: u64,
    /// Each pass's time from the first core's begin to the last one's end, in seconds; the first doesn't count.
    pub pass_seconds: Vec<f64>,
    /// Each core's own rate in the best pass.
    pub cores: Vec<CoreRate>,
}

/// One core's share of a pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoreRate {
    /// The core's number.
    pub cpu: u32,
    /// Its bytes over its own time.
    pub bytes_per_second: f64,
}

/// What a disk test ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiskUse {
    /// The operator's folder, or the device.
    pub path: String,
    /// The filesystem, such as `ext4`; `block device` where there is none.
    pub filesystem: String,
    /// Length of the file, or of the part of the device that was used.
    pub size_bytes: u64,
}
