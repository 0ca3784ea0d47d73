//! Sockets and descriptors: the only home of `unsafe` in the workspace.
