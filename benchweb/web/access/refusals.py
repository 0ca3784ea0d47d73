"""The page for who may not do something: which role it takes, and who can give it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from benchweb.accounts.permissions import Permission, Refused, access_of, users_who_may
from benchweb.accounts.roles.refusals import refusal_noted
from benchweb.hosts.models import Environment, Host

_MOST_NAMED = 5


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403; without a role for a view that names no permission: none would help."""
    context: dict[str, object] = {}
    if isinstance(exception, Refused):
        refusal_noted(request, request.user, exception)
        environment = Environment.objects.filter(pk=exception.environment_id or 0).first()
        context = {
            "role": exception.permission.role.label,
            "environment": environment.name if environment else "",
            "host": Host.objects.filter(pk=exception.host_id or 0).first(),
            "own_role": own.label if (own := access_of(request.user).everywhere) else "",
            "admins": [user.get_username() for user in users_who_may(Permission.ADMIN)[:_MOST_NAMED]],
        }
    return render(request, "403.html", context, status=403)
