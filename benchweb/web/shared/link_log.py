"""Keep links that open something out of the log: who reads it has no right to what they open."""

import logging
import re

_LINK = re.compile(r"(/s/|/login/invitation/|/login/new-password/[^/\s]+/)[^/\s?]+")


class WithoutLinks(logging.Filter):
    """Write `/s/…` for a share link, and so for others, whatever was tried with it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record's text; none is left out."""
        message = record.getMessage()
        if _LINK.search(message):
            record.msg, record.args = _LINK.sub(r"\1…", message), ()
        return True
