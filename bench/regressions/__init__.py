"""How well changes are detected: labelled traces, simulated nights, speed."""
