from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("regressions", "0005_slow_changes"),
    ]

    operations = [
        migrations.AddField(
            model_name="alertseries",
            name="canary",
            field=models.JSONField(null=True),
        ),
    ]
