from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("regressions", "0010_sensitivity_archived"),
    ]

    operations = [
        audited("regressions_threshold"),
        audited("regressions_alerttransition", events="INSERT", condition="NEW.by_id IS NOT NULL"),
        audited("regressions_baseline"),
        audited("regressions_sensitivity"),
    ]
