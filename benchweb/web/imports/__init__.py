"""Import other tools' results: drop files or paste text, see what was found, choose a pair, import."""
