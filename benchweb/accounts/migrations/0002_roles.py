import django.db.models.deletion
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited

# As accounts.user_names.PersonKey has it.
KEY = """normalize(replace(lower(upper(normalize(username, NFKC))), 'ß', 'ss'), NFKC) COLLATE "C\""""


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_saved_views"),
        ("accounts", "0003_stored_names"),
        ("accounts", "0004_team_views"),
        ("accounts", "0005_sessions_and_preferences"),
        ("accounts", "0006_list_columns"),
        ("accounts", "0007_audit"),
        ("accounts", "0008_roles"),
        ("accounts", "0009_admins_of_before"),
        ("accounts", "0010_token_limits"),
        ("accounts", "0011_audit_of_log_ins"),
        ("accounts", "0012_invitations"),
        ("accounts", "0013_audit_of_use"),
        ("accounts", "0014_one_account_a_person"),
        ("accounts", "0015_audit_of_sessions"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("hosts", "0001_tables"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        migrations.AddField(
            model_name="grant",
            name="environment",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="hosts.environment"
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.UniqueConstraint(
                fields=("user", "team", "environment"), name="grant_once", nulls_distinct=False
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("role", "admin"), _negated=True), ("environment", None), _connector="OR"),
                name="grant_admin_everywhere",
            ),
        ),
        # Django's own table: no model of ours can declare it.
        migrations.RunSQL(
            f"CREATE UNIQUE INDEX accounts_one_person ON auth_user (({KEY}))",
            "DROP INDEX accounts_one_person",
        ),
        audited("auth_user", ignored=("last_login",), hidden=("password",)),
        audited("mfa_authenticator", ignored=("last_used_at",), hidden=("data",)),
        audited("socialaccount_socialaccount", ignored=("last_login", "extra_data")),
        audited("accounts_apitoken", ignored=("last_used_at", "last_used_address"), hidden=("digest",)),
        audited("accounts_savedview"),
        audited("accounts_team", ignored=("name_key",)),
        audited("accounts_membership"),
        audited("accounts_grant"),
        audited("accounts_invitation", hidden=("digest",)),
        audited(
            "accounts_usersession",
            events="DELETE",
            condition="OLD.user_id IS NOT NULL AND OLD.expire_date > statement_timestamp()",
            ignored=("session_key", "session_data"),
        ),
    ]
