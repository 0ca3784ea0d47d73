"""The extremes over the pairs of an environment's latest night."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0006_run_figures")]

    operations = [
        migrations.AddField("environmentnights", "low", models.FloatField(null=True)),
        migrations.AddField("environmentnights", "high", models.FloatField(null=True)),
    ]
