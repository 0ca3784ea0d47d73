from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("annotations", "0001_initial"),
    ]

    operations = [
        audited("regressions_annotation"),
    ]
