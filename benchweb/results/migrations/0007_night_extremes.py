"""The extremes over the pairs of an environment's latest night."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0006_run_figures")]

    operations = [
        migrations.AddField("environmentnights", "low", models.FloatField(null=True)),
        migrations.AddField("environmentnights", "high", models.FloatField(null=True)),
        # The tick makes the latest night anew, and its extremes with it.
        migrations.RunSQL(
            "UPDATE results_environmentnights SET stale_from = night WHERE night IS NOT NULL AND stale_from IS NULL",
            migrations.RunSQL.noop,
        ),
    ]
