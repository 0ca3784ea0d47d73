"""The form of API tokens."""

from benchweb.web.forms.base import PageForm, text_field


class TokenForm(PageForm):
    """What a token is for."""

    name = text_field(
        "What is it for?",
        required=True,
        max_length=100,
        help_text="A word that will tell you later which script uses it.",
        placeholder="nightly export",
    )
