//! What the kernel tells of a TCP connection.

use serde::{Deserialize, Serialize};

/// Figures of `TCP_INFO` (linux/tcp.h); what a kernel doesn't tell is absent.
///
/// Counts and times cover the measured window, or the interval where they stand in one; the others are of its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TcpFigures {
    /// Segments sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Congestion window, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_window_bytes: Option<u64>,
    /// Smoothed round-trip time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
    /// Mean deviation of the round-trip time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_variation_seconds: Option<f64>,
    /// Least round-trip time seen lately, in seconds (kernel 4.6 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_rtt_seconds: Option<f64>,
    /// Latest delivery rate, in bits per second (kernel 4.9 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bps: Option<f64>,
    /// Time with data to send or in flight, in seconds (kernel 4.10 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_seconds: Option<f64>,
    /// Of that, time limited by the receiver's window, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_limited_seconds: Option<f64>,
    /// Of that, time limited by the send buffer, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer_limited_seconds: Option<f64>,
    /// Data segments sent, those sent again included (kernel 4.6 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments_sent: Option<u64>,
    /// Payload bytes sent again (kernel 4.19 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted_bytes: Option<u64>,
    /// Whether the application, not the path, bounded the delivery rate (kernel 4.9 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_application_limited: Option<bool>,
}
