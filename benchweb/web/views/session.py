"""Log in and out."""

from typing import Any

from django.contrib.auth import views


class Login(views.LoginView):
    """The log-in page; someone already logged in goes on to where they wanted."""

    template_name = "pages/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Keep the shell's bar off a page for someone not yet inside."""
        return super().get_context_data(**kwargs) | {"bare": True}


class Logout(views.LogoutView):
    """Log out by POST, so that no link or image can."""
