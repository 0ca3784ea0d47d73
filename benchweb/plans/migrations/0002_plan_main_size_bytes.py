"""The size of a plan's sweep at which the main figures of its runs are told."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("plans", "0001_tables")]

    operations = [
        migrations.AddField(
            model_name="plan", name="main_size_bytes", field=models.PositiveBigIntegerField(blank=True, null=True)
        ),
    ]
