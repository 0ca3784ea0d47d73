import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0001_tables")]

    operations = [
        migrations.AddField(
            model_name="report",
            name="chosen_settings",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), db_default=[], default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="report",
            name="remaining",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
