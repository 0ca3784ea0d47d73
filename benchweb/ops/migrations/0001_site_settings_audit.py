from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0007_audit"),
        ("site", "0001_initial"),
    ]

    operations = [audited("site_sitesetting")]
