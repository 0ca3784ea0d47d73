from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("notifications", "0003_delivery_retention"),
    ]

    operations = [
        audited("notifications_channel", hidden=("secret_encrypted", "config")),
        audited("notifications_rule"),
        audited("notifications_maintenancewindow"),
    ]
