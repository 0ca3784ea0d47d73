from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("reports", "0001_reports"),
    ]

    operations = [
        audited("reports_report", ignored=("updated_at",)),
        audited("reports_reportrun"),
    ]
