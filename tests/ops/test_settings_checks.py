"""A setting that can't work is told by its name before anything starts."""

from benchweb.checks import settings_are_usable


def messages() -> list[str]:
    return [message.msg for message in settings_are_usable()]


def test_the_settings_of_the_tests_pass():
    assert messages() == []


def test_a_short_secret_key_is_refused(settings):
    settings.SECRET_KEY = "x" * 31
    assert messages() == ["BENCHWEB_SECRET_KEY has fewer than 32 characters."]


def test_a_database_url_of_another_kind_is_refused(settings):
    settings.DATABASE_URL = "mysql://localhost/benchweb"
    assert messages() == ["BENCHWEB_DATABASE_URL must begin with postgresql:// or postgres://."]


def test_a_redis_url_without_a_scheme_is_refused(settings):
    settings.REDIS_URL = "localhost:6379"
    assert messages() == ["BENCHWEB_REDIS_URL must begin with redis:// or rediss:// or unix://."]


def test_a_demo_that_others_can_reach_is_warned_of(settings):
    settings.DEMO = True
    settings.ALLOWED_HOSTS = ["localhost", "bench.example.org"]
    assert messages() == ["The demo is on while BENCHWEB_ALLOWED_HOSTS names bench.example.org."]


def test_a_catalog_overlay_that_is_no_file_is_refused(settings, tmp_path):
    settings.CATALOG_OVERLAY = str(tmp_path / "none.json")
    assert messages() == [f"BENCHWEB_CATALOG_OVERLAY names no file: {tmp_path}/none.json."]


def test_a_trusted_proxy_that_is_no_address_is_refused(settings):
    settings.TRUSTED_PROXIES = ["10.0.0.5", "192.168.3.0/24", "::1", "proxy.example.org"]
    assert messages() == [
        "BENCHWEB_TRUSTED_PROXIES holds proxy.example.org, which is neither an address nor a network."
    ]
