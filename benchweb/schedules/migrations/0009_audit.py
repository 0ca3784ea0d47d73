from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("schedules", "0008_rerun_percent"),
    ]

    operations = [
        audited("schedules_schedule", ignored=("next_at", "break_offs")),
    ]
