"""The form of API tokens."""

from django.utils.translation import gettext_lazy as _

from benchweb.web.shared.forms import PageForm, text_field


class TokenForm(PageForm):
    """What a token is for."""

    name = text_field(
        _("What is it for?"),
        required=True,
        max_length=100,
        help_text=_("A name that reminds you which script uses it."),
        placeholder=_("nightly export"),
    )
