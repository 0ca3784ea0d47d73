"""The calls that show what the API is for."""

from django.utils.translation import gettext_lazy

_HEADER = '-H "Authorization: Bearer $TOKEN"'
# What each call is for, and the call; `{root}` is the API's address.
API_CALLS = [
    (gettext_lazy("List the pairs"), f"curl {_HEADER} {{root}}/pairs"),
    (gettext_lazy("Launch a plan on a pair"), f'curl {_HEADER} {{root}}/runs -d \'{{{{"plan": 1, "pair": 1}}}}\''),
    (gettext_lazy("See how a run goes"), f"curl {_HEADER} {{root}}/runs/1"),
    (gettext_lazy("Download a run's results"), f"curl {_HEADER} -o run-1.csv {{root}}/runs/1/results.csv"),
    (gettext_lazy("List the open alerts"), f'curl {_HEADER} "{{root}}/alerts?state=open"'),
]
