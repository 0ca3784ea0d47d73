"""The provider's addresses and claims; imported in its own process only."""

from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider import urls
from oauth2_provider.oauth2_validators import OAuth2Validator


class Claims(OAuth2Validator):  # type: ignore[misc]
    """Says of each person what the provider was started with, and who they are by a number."""

    oidc_claim_scope = None

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        """Return the claims beside the usual ones."""
        return dict(settings.PEOPLE[request.user.get_username()])  # type: ignore[misc]


urlpatterns = [
    path("sign-in", LoginView.as_view()),
    path("", include((urls.base_urlpatterns + urls.oidc_urlpatterns, "oauth2_provider"))),
]
