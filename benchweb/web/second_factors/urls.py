"""Addresses of second factors and passkeys, by the names that django-allauth looks them up by."""

from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import DeactivateTOTPView
from allauth.mfa.webauthn.views import RemoveWebAuthnView
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.generic import RedirectView

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs, open_to_all
from benchweb.web.second_factors import views

_for_strangers = open_to_all("who is not logged in yet logs in here")
_own = needs(Permission.READ)
_index = views.Factors.as_view()
_codes = ViewRecoveryCodesView.as_view(template_name="second_factors/recovery_codes.html")
_codes_new = GenerateRecoveryCodesView.as_view(
    template_name="second_factors/ask.html",
    extra_context={
        "title": _("Replace recovery codes"),
        "consequence": _("The former codes are void from then on."),
        "button": _("Replace"),
    },
)
_app_remove = DeactivateTOTPView.as_view(
    template_name="second_factors/ask.html",
    extra_context={
        "title": _("Remove the authenticator app"),
        "consequence": _(
            "The app's codes are refused from now on. Passkeys stay; without one the password alone opens the account."
        ),
        "button": _("Remove"),
    },
)
_passkey_remove = RemoveWebAuthnView.as_view(
    template_name="second_factors/ask.html",
    extra_context={
        "title": _("Remove passkey"),
        "consequence": _("This passkey logs in no more. Delete it in the browser or on the key too."),
        "button": _("Remove"),
    },
)
_passkeys = RedirectView.as_view(pattern_name="mfa_index")

urlpatterns = [
    path("login/code", _for_strangers(views.Code.as_view()), name="mfa_authenticate"),
    path("login/passkey", _for_strangers(views.PasskeyLogin.as_view()), name="mfa_login_webauthn"),
    path("account/confirm", _own(never_cache(views.ConfirmByPassword.as_view())), name="account_reauthenticate"),
    path("account/confirm/code", _own(never_cache(views.ConfirmByCode.as_view())), name="mfa_reauthenticate"),
    path(
        "account/confirm/passkey",
        _own(never_cache(views.ConfirmByPasskey.as_view())),
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/factors", _own(never_cache(_index)), name="mfa_index"),
    path("account/factors/app/add", _own(never_cache(views.AppAdd.as_view())), name="mfa_activate_totp"),
    path("account/factors/app/remove", _own(_app_remove), name="mfa_deactivate_totp"),
    path("account/factors/recovery-codes", _own(never_cache(_codes)), name="mfa_view_recovery_codes"),
    path("account/factors/recovery-codes/new", _own(never_cache(_codes_new)), name="mfa_generate_recovery_codes"),
    path("account/factors/passkeys", _own(_passkeys), name="mfa_list_webauthn"),
    path("account/factors/passkeys/add", _own(never_cache(views.PasskeyAdd.as_view())), name="mfa_add_webauthn"),
    path("account/factors/passkeys/<int:pk>/remove", _own(_passkey_remove), name="mfa_remove_webauthn"),
]
