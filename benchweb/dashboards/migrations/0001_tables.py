import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Dashboard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("is_team", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dashboards",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
            },
        ),
        migrations.CreateModel(
            name="Tile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=2000)),
                ("part", models.CharField(blank=True, max_length=200)),
                (
                    "width",
                    models.CharField(
                        choices=[("half", "half of the page"), ("whole", "the whole width")],
                        default="half",
                        max_length=5,
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                (
                    "dashboard",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tiles", to="dashboards.dashboard"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        audited("dashboards_dashboard"),
        audited("dashboards_tile"),
    ]
