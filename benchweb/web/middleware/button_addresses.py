"""Lead on from addresses that only take a form's button: a log-in in between opens them as pages."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.deprecation import MiddlewareMixin


class ButtonAddressMiddleware(MiddlewareMixin):
    """Show a page where a view refuses to be opened without a word; the API has its own answer."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Keep the status and what is allowed, and give the page of the button."""
        if response.status_code != 405 or request.method != "GET":
            return response
        if not isinstance(response, HttpResponse) or response.content:
            return response
        if request.resolver_match is None or request.resolver_match.app_name != "web":
            return response
        page = render(request, "405.html", {"page_url": _page_of(request.path_info)}, status=405)
        page["Allow"] = response["Allow"]
        return page


def _page_of(path: str) -> str:
    """Return the nearest page above an address, the overview at last."""
    overview = reverse("web:overview")
    above = path.rpartition("/")[0]
    while above:
        try:
            resolve(above)
        except Resolver404:
            above = above.rpartition("/")[0]
        else:
            return overview.rstrip("/") + above
    return overview
