"""What the proofs stand on: namespaces, wires, forwarders, samplers, attempts, verdicts."""
