"""The tables of the room below the audit log's."""

from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("ops", "0001_site_settings_audit"),
        ("ops", "0002_site_secrets_audit"),
    ]
    dependencies = [("accounts", "0001_tables"), ("site", "0001_tables")]

    operations = [
        audited("site_sitesetting"),
        audited("site_sitesecret", hidden=("secret_encrypted",)),
    ]
