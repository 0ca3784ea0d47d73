from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [("ops", "0001_audit"), ("site", "0002_installation")]

    operations = [audited("site_installation", ignored=("timeline",))]
