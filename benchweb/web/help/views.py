"""Help: the documentation, examples of the API, and the words of the field."""

from typing import cast

from django.contrib.auth.models import User
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.addresses import site_path
from benchweb.web.help.calls import API_CALLS
from benchweb.web.help.documents import contents, document, image_path
from benchweb.web.shared.glossary import glossary_words


@needs(Permission.READ)
@require_GET
def help_index(request: HttpRequest) -> HttpResponse:
    """List the documentation and what else helps."""
    return render(request, "help/help.html", {"parts": contents()})


@needs(Permission.READ)
@require_GET
def help_document(request: HttpRequest, name: str) -> HttpResponse:
    """Show a document of the documentation."""
    found = document(name.removesuffix(".md"))
    if found is None:
        raise Http404(_("There is no such document."))
    return render(request, "help/document.html", {"document": found})


@needs(Permission.READ)
@require_GET
def help_image(request: HttpRequest, name: str) -> FileResponse:
    """Send a picture of the documentation."""
    path = image_path(name)
    if path is None:
        raise Http404(_("There is no such picture."))
    return FileResponse(path.open("rb"), content_type="image/png")


@needs(Permission.READ)
@require_GET
def api_examples(request: HttpRequest) -> HttpResponse:
    """Show calls of the API with this site's address, ready to be pasted once the token is in its place."""
    root = request.build_absolute_uri(site_path("/api/v1"))
    calls = [(title, call.format(root=root)) for title, call in API_CALLS]
    tokens = ApiToken.objects.filter(user=cast(User, request.user), revoked_at=None)
    return render(request, "help/api.html", {"calls": calls, "token": tokens.first(), "root": root})


@needs(Permission.READ)
@require_GET
def glossary(request: HttpRequest) -> HttpResponse:
    """Say what the words on the pages mean."""
    return render(request, "help/glossary.html", {"words": glossary_words()})
