"""Hosts from a table: preview by line, all or none, from a field or a file."""

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchweb.hosts.models import Endpoint, Host
from tests.factories import make_endpoint

TABLE = "name,address,labels\nalder,192.0.2.1,rack-7\nbirch,192.0.2.2,rack-7\n"


def test_the_list_of_hosts_leads_to_it(signed_in: Client) -> None:
    assert 'href="/hosts/import"' in signed_in.get("/hosts").content.decode()
    assert "Paste a table to see what each line makes." in signed_in.get("/hosts/import").content.decode()


def test_the_preview_says_what_each_line_makes_and_keeps_nothing(signed_in: Client) -> None:
    text = signed_in.post("/hosts/import/preview", {"text": TABLE}).content.decode()
    assert "<strong>2 new hosts</strong> · 2 endpoints" in text
    assert "192.0.2.1:7410" in text and 'class="flag">rack-7<' in text
    assert not Host.objects.exists()


def test_faults_are_told_by_line_and_nothing_is_added(signed_in: Client) -> None:
    taken = make_endpoint(host_name="birch")
    response = signed_in.post("/hosts/import", {"text": TABLE, "action": "save"})
    text = response.content.decode()
    assert "1 line has a fault. Nothing is added until it is right." in text
    assert f"The host birch ({taken.host_id}) has this name: choose another." in text
    # What was typed stays.
    assert "alder,192.0.2.1,rack-7" in text
    assert Host.objects.get() == taken.host


def test_all_lines_are_added_and_each_page_has_the_command(signed_in: Client) -> None:
    response = signed_in.post("/hosts/import", {"text": TABLE, "action": "save"}, follow=True)
    assert response.redirect_chain == [("/hosts", 302)]
    assert "2 hosts added." in response.content.decode()
    for endpoint in Endpoint.objects.all():
        page = signed_in.get(f"/hosts/{endpoint.host_id}").content.decode()
        assert "THE-TOKEN" not in page


def test_a_file_is_taken_in_place_of_the_text(signed_in: Client) -> None:
    file = SimpleUploadedFile("hosts.csv", ("\ufeff" + TABLE).encode(), "text/csv")
    signed_in.post("/hosts/import", {"text": "", "file": file, "action": "save"})
    assert list(Host.objects.values_list("name", flat=True)) == ["alder", "birch"]
    binary = SimpleUploadedFile("hosts.xlsx", bytes(range(256)) * 10)
    text = signed_in.post("/hosts/import", {"file": binary, "action": "save"}).content.decode()
    assert "Nothing is added" in text
    assert Host.objects.count() == 2


def test_an_empty_text_adds_nothing(signed_in: Client) -> None:
    for text in ("", "\n", "# nothing"):
        assert signed_in.post("/hosts/import", {"text": text, "action": "save"}, follow=True).status_code == 200
    assert not Host.objects.exists()
