"""benchweb's settings with an app whose second migration needs a table for itself."""

from benchweb.settings import *  # noqa: F403
from benchweb.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.ops.locked"]
