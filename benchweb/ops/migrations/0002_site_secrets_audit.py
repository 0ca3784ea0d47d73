from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("ops", "0001_site_settings_audit"),
        ("site", "0002_sitesecret"),
    ]

    operations = [audited("site_sitesecret", hidden=("secret_encrypted",))]
