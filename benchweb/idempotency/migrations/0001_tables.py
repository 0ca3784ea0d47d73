import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("idempotency", "0001_initial"),
    ]

    dependencies = [
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_id", models.BigIntegerField(null=True)),
                ("key", models.CharField(max_length=255)),
                ("request_digest", models.CharField(max_length=64)),
                ("answer_encrypted", models.BinaryField(default=b"")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(fields=["created_at"], name="kept_answer_created_at")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "token_id", "key"), name="key_once", nulls_distinct=False)
                ],
            },
        ),
    ]
