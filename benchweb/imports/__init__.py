"""Other tools' results as runs of a pair, marked as imported wherever they are seen."""
