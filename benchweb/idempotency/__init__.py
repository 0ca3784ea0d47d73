"""Make once what is sent twice: by a caller's key, and the answer that the first request with it got."""
