from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("runs", "0014_run_labels"),
    ]

    operations = [
        audited("runs_campaign", events="INSERT"),
        audited("runs_run", only=("cancel_requested_at", "labels")),
    ]
