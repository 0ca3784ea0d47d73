"""What a stranger will see is shown before a link is made, and nothing is stored for it."""

import pytest
from django.test import Client

from benchweb.sharing.models import Share
from tests.sharing.scene import told_run

pytestmark = pytest.mark.django_db


def test_a_run_is_previewed_with_names_and_with_pseudonyms(admin_client: Client) -> None:
    run = told_run()
    host = run.pair.source.host.name
    address = f"/runs/{run.pk}/shares/preview"
    assert host in admin_client.get(address).content.decode()
    hidden = admin_client.get(f"{address}?anonymise=1").content.decode()
    assert host not in hidden
    assert "host-" in hidden
    assert "No link is made yet" in hidden
    assert not Share.objects.exists()


def test_a_view_is_previewed_as_its_link_would_show_it(admin_client: Client) -> None:
    run = told_run()
    host, address = run.pair.source.host.name, f"/share/preview?path=/pairs/{run.pair_id}"
    assert host in admin_client.get(address).content.decode()
    assert host not in admin_client.get(f"{address}&anonymise=1").content.decode()
    assert admin_client.get("/share/preview?path=/account").status_code == 404
    assert not Share.objects.exists()


def test_the_dialog_leads_to_both_previews(admin_client: Client) -> None:
    run = told_run()
    for page in (f"/runs/{run.pk}/shares", f"/share?path=/pairs/{run.pair_id}"):
        dialog = admin_client.get(page).content.decode()
        assert "with pseudonyms</a>" in dialog and "with names</a>" in dialog
