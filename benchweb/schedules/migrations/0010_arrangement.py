from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("schedules", "0009_audit"),
    ]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="arrangement",
            field=models.CharField(
                choices=[("runs", "run after run"), ("rounds", "round after round"), ("together", "together")],
                db_default="runs",
                default="runs",
                max_length=10,
            ),
        ),
    ]
