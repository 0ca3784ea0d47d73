"""A site that has only a path of its host, as /bench: each link of each page and answer stays below it."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import set_script_prefix

from tests.browser.site import filled_site

pytestmark = pytest.mark.django_db
BASE = "/bench"
# Attributes that hold addresses; what starts with two slashes is of another host.
_ADDRESS = re.compile(r'(?:href|action|formaction|src|hx-(?:get|post|put|patch|delete)|data-[a-z-]+)="(/(?!/)[^"]*)"')
_CHARTS = re.compile(r'data-charts="([^"]+)"')
_IN_JSON = re.compile(r'"(?:href|url|link)": ?"(/(?!/)[^"]*)"')


@pytest.fixture
def below(settings: Any) -> Iterator[None]:
    """Have the site below a path."""
    settings.BASE_PATH = settings.FORCE_SCRIPT_NAME = BASE
    settings.STATIC_URL = f"{BASE}/static/"
    set_script_prefix(f"{BASE}/")
    yield
    set_script_prefix("/")


def test_each_address_on_each_page_is_below_the_path(below: None, client: Client) -> None:
    paths = [page.path.removeprefix(BASE) for page in filled_site()]
    client.force_login(User.objects.get(username="ada"))
    wrong = {}
    for path in paths:
        response = client.get(path)
        text = response.content.decode(errors="replace") if not response.streaming else ""
        paths += {unescape(found).removeprefix(BASE) for found in _CHARTS.findall(text)} - set(paths)
        outside = {
            found
            for pattern in (_ADDRESS, _IN_JSON)
            for found in pattern.findall(text)
            if found != BASE and not found.startswith(f"{BASE}/")
        }
        if location := response.headers.get("Location", ""):
            outside |= set() if location.startswith(f"{BASE}/") else {location}
        if outside:
            wrong[path] = sorted(outside)[:5]
    assert wrong == {}
    assert sum(path.startswith("/history/charts.json") for path in paths) > 0
