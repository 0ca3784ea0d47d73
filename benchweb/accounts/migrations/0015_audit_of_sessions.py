from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0014_one_account_a_person"),
    ]

    operations = [
        # One that ends before its time, whoever ends it: its user, an admin, another password.
        audited(
            "accounts_usersession",
            events="DELETE",
            condition="OLD.user_id IS NOT NULL AND OLD.expire_date > statement_timestamp()",
            ignored=("session_key", "session_data"),
        ),
    ]
