from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hosts", "0003_probe_turns"),
        ("results", "0002_result_limits"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="series",
            index=models.Index(fields=["kind", "metric", "id"], name="series_by_metric"),
        ),
    ]
