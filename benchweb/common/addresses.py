"""Where an address of this site is for browsers, when the site has only a path of its host."""

from django.conf import settings


def site_path(path: str) -> str:
    """Return an address such as /runs/3 as browsers ask for it: behind BENCHWEB_BASE_PATH."""
    return settings.BASE_PATH + path


def path_within(path: str) -> str:
    """Return an address as it is kept, without BENCHWEB_BASE_PATH: the site may move."""
    base = settings.BASE_PATH
    return path.removeprefix(base) if base and path.startswith((f"{base}/", f"{base}?")) else path
