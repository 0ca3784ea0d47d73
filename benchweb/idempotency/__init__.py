"""What is sent twice is made once: a caller's key, and the answer that the first request with it got."""
