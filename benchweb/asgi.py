"""The ASGI application that uvicorn serves."""

import gc
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
application = get_asgi_application()

# What was loaded stays: nothing of it need be searched for garbage while a page is made.
gc.collect()
gc.freeze()
# A page makes some tens of thousands of objects, hardly any in cycles.
gc.set_threshold(50_000, 10, 10)
