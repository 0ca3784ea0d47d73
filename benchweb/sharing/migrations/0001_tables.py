import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("sharing", "0001_initial"),
        ("sharing", "0002_page_in_languages"),
        ("sharing", "0003_parts"),
        ("sharing", "0004_views"),
        ("sharing", "0005_audit"),
        ("sharing", "0006_password"),
        ("sharing", "0007_live_pages"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("runs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Share",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(blank=True, db_default="", default="", max_length=2000)),
                ("title", models.CharField(blank=True, db_default="", default="", max_length=300)),
                ("is_live", models.BooleanField(db_default=False, default=False)),
                ("zone", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("anonymise", models.BooleanField(default=False)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("token_encrypted", models.BinaryField()),
                ("password", models.CharField(blank=True, db_default="", default="", max_length=128)),
                ("opened", models.PositiveIntegerField(default=0)),
                ("last_opened_at", models.DateTimeField(null=True)),
                ("page", models.JSONField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="shares", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="LivePage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=10)),
                ("tried_at", models.DateTimeField(null=True)),
                ("page", models.JSONField(null=True)),
                (
                    "share",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="live_pages",
                        to="sharing.share",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("share", "language"), name="live_page_once")],
            },
        ),
        migrations.CreateModel(
            name="SharePart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("export", models.CharField(choices=[("csv", "CSV"), ("json", "JSON")], max_length=4)),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                (
                    "share",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="sharing.share",
                    ),
                ),
            ],
            options={
                "ordering": ["share_id", "export", "number"],
                "constraints": [models.UniqueConstraint(fields=("share", "export", "number"), name="share_part_once")],
            },
        ),
        audited(
            "sharing_share",
            ignored=("opened", "last_opened_at"),
            hidden=("digest", "token_encrypted", "page", "password"),
        ),
    ]
