from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("site", "0001_initial"),
        ("site", "0002_sitesecret"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="SiteSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("secret_encrypted", models.BinaryField(default=b"")),
            ],
        ),
        migrations.CreateModel(
            name="SiteSetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True)),
                ("value", models.JSONField()),
            ],
        ),
    ]
