from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("imports", "0002_pushed_results"),
    ]

    operations = [
        audited("imports_import", hidden=("text",)),
        audited("imports_ownmetric"),
        audited("imports_ownkind"),
    ]
