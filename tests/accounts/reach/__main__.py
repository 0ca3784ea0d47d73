"""`python -m tests.accounts.reach`: print docs/reference/reach.md."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
django.setup()

from tests.accounts.reach.table import reach_page  # noqa: E402  (models, once they are set up)

print(reach_page())
