"""Prove the engine's numbers against a known truth, across veth pairs between network namespaces."""
