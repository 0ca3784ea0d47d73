from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0003_recent_medians"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="series",
            index=models.Index(fields=["kind", "metric", "id"], name="series_by_metric"),
        ),
    ]
