from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ops", "0002_installation")]

    operations = [
        migrations.CreateModel(
            name="Backup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(blank=True, max_length=255)),
                ("begun_at", models.DateTimeField(db_index=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("fault", models.TextField(blank=True)),
                ("tested_at", models.DateTimeField(null=True)),
                ("test_fault", models.TextField(blank=True)),
            ],
        ),
    ]
