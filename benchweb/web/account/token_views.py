"""API tokens: make one and see its secret once, list one's own, revoke."""

from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts import services
from benchweb.accounts.models import ApiToken
from benchweb.accounts.permissions import Permission, Refused, access_of, is_service
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.roles.service_accounts import service_accounts
from benchweb.common.addresses import site_path
from benchweb.hosts.models import Environment
from benchweb.web.access.once import once
from benchweb.web.account.forms import ALL_OF_ITS, ServiceTokenForm, TokenForm

_LONGEST_NUMBER = 10


@dataclass(frozen=True)
class TokenRow:
    """A token in a list: what it may, in words for the reader, and the names of its environments."""

    token: ApiToken
    scope: str
    environments: list[str]


@needs(Permission.READ)
@once
@never_cache
@require_http_methods(["GET", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """List the reader's own tokens, or a service account's; on POST make one and show its secret, this once."""
    user = cast(User, request.user)
    owner = _owner(request, user)
    kind = TokenForm if owner == user else ServiceTokenForm
    form = kind(request.POST) if request.method == "POST" else kind()
    secret = ""
    if request.method == "POST" and form.is_valid():
        _token, secret = services.token_create(user=owner, name=form.cleaned_data["name"], limits=form.limits)
        form = kind()
    context = {
        "owner": owner,
        "is_service": owner != user,
        "form": form,
        "secret": secret,
        "example": f'curl -H "Authorization: Bearer {secret}" {request.build_absolute_uri(site_path("/api/v1/runs"))}',
        "tokens": _rows(ApiToken.objects.filter(user=owner, revoked_at=None), user),
        "others": _rows(ApiToken.objects.filter(revoked_at=None).exclude(user=user).select_related("user"), user)
        if owner == user and access_of(user).may(Permission.ADMIN)
        else (),
        "revoked": ApiToken.objects.filter(user=owner).exclude(revoked_at=None),
    }
    return render(request, "account/tokens.html", context, status=201 if secret else 200)


@needs(Permission.READ)
@require_http_methods(["GET", "POST"])
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Ask, then revoke one of the reader's own tokens, or as an admin anybody's; others do not exist here."""
    user = cast(User, request.user)
    tokens = ApiToken.objects.filter(revoked_at=None)
    if not access_of(user).may(Permission.ADMIN):
        tokens = tokens.filter(user=user)
    token = get_object_or_404(tokens, pk=token_id)
    if request.method == "GET":
        return render(request, "account/token_revoke.html", {"token": token, "back": _tokens_url(token.user)})
    services.token_revoke(user=token.user, token_id=token.pk)
    messages.success(request, _("The token is revoked. Calls with it are refused from now on."))
    return redirect(_tokens_url(token.user))


def _rows(tokens: "QuerySet[ApiToken, ApiToken]", reader: User) -> list[TokenRow]:
    """Return tokens with the names of their environments; one query for those of all."""
    rows = list(tokens)
    ids = {number for token in rows for number in token.environment_ids}
    names = dict(Environment.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    return [
        TokenRow(token, _scope(token, reader), [names.get(number, str(number)) for number in token.environment_ids])
        for token in rows
    ]


def _scope(token: ApiToken, reader: User) -> str:
    is_all_of_another = token.scope == ApiToken.Scope.ADMIN and token.user_id != reader.pk
    return str(ALL_OF_ITS if is_all_of_another else token.get_scope_display())


def _tokens_url(owner: User) -> str:
    return reverse("web:tokens") + (f"?service={owner.pk}" if is_service(owner) else "")


def _owner(request: HttpRequest, reader: User) -> User:
    """Return whose tokens the page is about: the reader's, or as an admin those of a service account."""
    number = request.GET.get("service", "")
    if not number:
        return reader
    if not access_of(reader).may(Permission.ADMIN):
        raise Refused(Permission.ADMIN)
    is_number = number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER
    return get_object_or_404(service_accounts().filter(is_active=True), pk=number if is_number else None)
