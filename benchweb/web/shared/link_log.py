"""Keep share links out of the log: who reads it has no right to what they open."""

import logging
import re

_LINK = re.compile(r"(/s/)[^/\s?]+")


class WithoutLinks(logging.Filter):
    """Write `/s/…` for a link, whatever was tried with it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record's text; none is left out."""
        message = record.getMessage()
        if "/s/" in message:
            record.msg, record.args = _LINK.sub(r"\1…", message), ()
        return True
