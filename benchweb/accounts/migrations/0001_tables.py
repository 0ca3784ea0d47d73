import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit import triggers


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
        ("auth", "0012_alter_user_first_name_max_length"),
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("name_key", models.CharField(editable=False, max_length=600)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [models.UniqueConstraint(fields=("name_key",), name="team_name_once")],
            },
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("operator", "Operator"),
                            ("editor", "Editor"),
                            ("admin", "Admin"),
                        ],
                        max_length=8,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="accounts.team",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("team__isnull", False), ("user", None)),
                            models.Q(("team", None), ("user__isnull", False)),
                            _connector="OR",
                        ),
                        name="grant_of_a_user_or_a_team",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["viewer", "operator", "editor", "admin"])),
                        name="grant_of_a_known_role",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254)),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("viewer", "Viewer"),
                            ("operator", "Operator"),
                            ("editor", "Editor"),
                            ("admin", "Admin"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "team_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "used_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ListColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("list_name", models.CharField(max_length=40)),
                (
                    "hidden",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), default=list, size=None
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="list_columns",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "list_name"), name="list_columns_once")],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.team"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("team", "user"), name="membership_once")],
            },
        ),
        migrations.CreateModel(
            name="Preferences",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="preferences",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("time_zone", models.CharField(blank=True, max_length=64)),
                (
                    "language",
                    models.CharField(blank=True, choices=[("en", "English"), ("zh-hans", "简体中文")], max_length=10),
                ),
                ("theme", models.CharField(blank=True, choices=[("light", "Light"), ("dark", "Dark")], max_length=5)),
            ],
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("path", models.CharField(max_length=2000)),
                ("position", models.PositiveIntegerField()),
                ("is_team", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        migrations.CreateModel(
            name="UserSession",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("logged_in_at", models.DateTimeField(null=True)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("client", models.CharField(blank=True, max_length=300)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("prefix", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("metrics", "Metrics for Prometheus only"),
                            ("read", "Read"),
                            ("run", "Read, launch and annotate"),
                            ("write", "Change hosts, pairs and plans too"),
                            ("admin", "All that you may"),
                        ],
                        db_default="admin",
                        default="admin",
                        max_length=7,
                    ),
                ),
                ("expires_at", models.DateTimeField(null=True)),
                (
                    "networks",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=43), default=list, size=None
                    ),
                ),
                (
                    "environment_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("last_used_at", models.DateTimeField(null=True)),
                ("last_used_address", models.CharField(blank=True, db_default="", max_length=45)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("created", "created"),
                            ("changed", "changed"),
                            ("deleted", "deleted"),
                            ("logged_in", "logged in"),
                            ("logged_out", "logged out"),
                            ("login_failed", "failed to log in"),
                            ("refused", "was refused"),
                            ("downloaded", "downloaded"),
                            ("used", "used"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "via",
                    models.CharField(
                        choices=[
                            ("page", "page"),
                            ("token", "API token"),
                            ("ticket", "ticket of a host"),
                            ("system", "benchweb itself"),
                        ],
                        max_length=6,
                    ),
                ),
                ("user_id", models.BigIntegerField(null=True)),
                ("user_name", models.CharField(blank=True, max_length=150)),
                ("token_id", models.BigIntegerField(null=True)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("table", models.CharField(blank=True, max_length=63)),
                ("object_id", models.BigIntegerField(null=True)),
                ("object_name", models.TextField(blank=True)),
                ("changes", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["table", "object_id", "-id"], name="audit_of_object"),
                    models.Index(fields=["user_name", "-id"], name="audit_of_user"),
                ],
            },
        ),
        migrations.AddField(
            model_name="team",
            name="members",
            field=models.ManyToManyField(
                related_name="teams", through="accounts.Membership", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.RunSQL(triggers.FUNCTION, "DROP FUNCTION audit_change()"),
        migrations.RunSQL(triggers.GUARD, triggers.UNDO_GUARD),
    ]
