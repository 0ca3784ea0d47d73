"""Preferences, and sessions that know whose they are: those that last are taken over, so that nobody is logged out."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations, models
from django.utils import timezone


def take_over(apps: Any, schema_editor: Any) -> None:
    """Copy the sessions that last, each with its user."""
    users = set(apps.get_model("auth", "User").objects.values_list("pk", flat=True))
    sessions = apps.get_model("accounts", "UserSession").objects
    for old in apps.get_model("sessions", "Session").objects.filter(expire_date__gt=timezone.now()):
        user_id = int(SessionStore().decode(old.session_data).get("_auth_user_id") or 0)
        values = {"session_data": old.session_data, "expire_date": old.expire_date}
        if user_id in users:
            sessions.create(session_key=old.session_key, user_id=user_id, **values)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_team_views"),
        ("sessions", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
