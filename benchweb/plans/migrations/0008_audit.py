from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("plans", "0007_one_off"),
    ]

    operations = [
        audited("plans_plan"),
        audited("plans_planversion"),
    ]
