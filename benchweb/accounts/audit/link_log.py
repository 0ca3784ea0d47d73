"""Keep links that open something out of the logs, audit log included: who reads them has no right to what they open."""

import logging
import re

_LINK = re.compile(r"(/s/|/login/invitation/|/login/new-password/[^/\s]+/)[^/\s?]+")


def without_links(text: str) -> str:
    """Write `/s/…` for a share link in a text, and so for others."""
    return _LINK.sub(r"\1…", text)


class WithoutLinks(logging.Filter):
    """Write `/s/…` for a share link, and so for others, whatever was tried with it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record's text; none is left out."""
        message = record.getMessage()
        if _LINK.search(message):
            record.msg, record.args = without_links(message), ()
        return True
