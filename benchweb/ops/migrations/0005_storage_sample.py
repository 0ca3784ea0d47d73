"""What the database took on each day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ops", "0004_removal")]

    operations = [
        migrations.CreateModel(
            name="StorageSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(unique=True)),
                ("database_bytes", models.BigIntegerField()),
                ("free_bytes", models.BigIntegerField(null=True)),
            ],
        ),
    ]
