from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("regressions", "0003_threshold_runs_in_row"),
    ]

    operations = [
        migrations.AddField(
            model_name="runjudgement",
            name="is_told",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
