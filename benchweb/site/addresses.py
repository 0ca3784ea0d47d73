"""Whole addresses of this site, for those who come from elsewhere: by mail, a messenger, a host's script."""

import re
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.http import HttpRequest

from benchweb.site.values import site_setting

# One or more parts, none of which a browser or a proxy writes otherwise.
BASE_PATH_FORM = re.compile(r"(/[A-Za-z0-9_-]+)+")


def has_own_path(url: str) -> bool:
    """Tell whether an address of the site has the path that the site is served at, or none."""
    return urlsplit(url).path.rstrip("/") in ("", settings.BASE_PATH)


def public_address(path: str, request: HttpRequest | None = None) -> str:
    """Return a path of ours behind BENCHWEB_PUBLIC_URL; without one as the caller reached this site, else as it is."""
    public_url: str = site_setting("PUBLIC_URL")
    if public_url or request is None:
        return urljoin(public_url, path)
    return request.build_absolute_uri(path)
