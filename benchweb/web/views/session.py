"""Log in and out."""

from typing import Any

from django.contrib.auth import views
from django.http import HttpRequest, HttpResponse


class Login(views.LoginView):
    """The log-in page; someone already logged in goes on to where they wanted."""

    template_name = "pages/login.html"
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form; a partial update whose session has ended reloads its page, which then leads here whole."""
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Refresh": "true"})
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Keep the shell's bar off a page for someone not yet inside."""
        return super().get_context_data(**kwargs) | {"bare": True}


class Logout(views.LogoutView):
    """Log out by POST, so that no link or image can."""
