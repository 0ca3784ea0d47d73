"""Files that people and scripts take away, in the audit log: exports, reports, results' documents."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from benchweb.accounts.audit.actors import actor_of
from benchweb.accounts.audit.logins import download_add
from benchweb.common.addresses import path_within


class DownloadMiddleware(MiddlewareMixin):
    """Note each file that somebody gets, by page or by token; strangers get none but those of share links."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Change nothing of the answer."""
        if response.status_code == HTTPStatus.OK and "Content-Disposition" in response.headers:
            token: Any = getattr(request, "token", None)
            user = token.user if token else request.user
            if isinstance(user, User):
                actor = actor_of(request, user, token_id=token.pk if token else None)
                download_add(actor, what=path_within(request.get_full_path()))
        return response
