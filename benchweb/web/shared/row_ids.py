"""Row ids as they come in query strings and forms."""

# PostgreSQL's bigint has 19 digits; a row's id of 19 would need a billion rows a second for thirty years.
_MOST_DIGITS = 18


def row_id(text: str) -> int | None:
    """Give the id that the text is, or None; Python itself refuses to read numbers of over 4,300 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
