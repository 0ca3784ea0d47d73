"""The queues that runs wait in."""
