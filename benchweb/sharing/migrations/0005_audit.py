from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("sharing", "0004_views"),
    ]

    operations = [
        audited("sharing_share", ignored=("opened", "last_opened_at"), hidden=("digest", "token_encrypted", "page")),
    ]
