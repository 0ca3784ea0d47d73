from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("site", "0001_tables")]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cluster", models.CharField(blank=True, max_length=40)),
                ("timeline", models.CharField(blank=True, max_length=8)),
                ("place", models.CharField(blank=True, max_length=64)),
                ("name", models.CharField(blank=True, max_length=500)),
                ("original_since", models.DateTimeField()),
                ("copy_since", models.DateTimeField(null=True)),
                ("copy_of", models.CharField(blank=True, max_length=500)),
                ("copied_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
