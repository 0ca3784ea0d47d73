//! The engine: command line and control plane.
