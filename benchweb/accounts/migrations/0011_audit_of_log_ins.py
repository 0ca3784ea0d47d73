from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_token_limits"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        audited("mfa_authenticator", ignored=("last_used_at",), hidden=("data",)),
        audited("socialaccount_socialaccount", ignored=("last_login", "extra_data")),
    ]
