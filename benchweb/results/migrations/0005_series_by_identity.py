from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hosts", "0006_former_names"),
        ("results", "0004_series_by_metric"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="series",
            index=models.Index(fields=["kind", "identity_digest"], name="series_by_identity"),
        ),
    ]
