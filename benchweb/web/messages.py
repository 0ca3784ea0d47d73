"""Messages for the next page: Django's, whose storage is made where one is written or shown."""

from typing import Any

from django.contrib.messages.middleware import MessageMiddleware as DjangosMiddleware
from django.contrib.messages.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject, empty


class MessageMiddleware(DjangosMiddleware):
    """Django's; answers without messages, such as charts' data, cost nothing for them."""

    def process_request(self, request: HttpRequest) -> None:
        """Have the storage made when it is first looked at."""
        request._messages = SimpleLazyObject(lambda: default_storage(request))  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Keep what was written and not shown yet, if anything looked at the storage."""
        storage: Any = getattr(request, "_messages", None)
        if storage is None or storage._wrapped is empty:
            return response
        kept: HttpResponse = super().process_response(request, response)
        return kept
