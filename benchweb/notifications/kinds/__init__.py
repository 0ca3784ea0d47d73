"""Kinds of channels, a folder each."""
