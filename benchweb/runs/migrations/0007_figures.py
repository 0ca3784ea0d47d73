from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hosts", "0006_former_names"),
        ("plans", "0003_synthetic"),
        ("runs", "0006_summed_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="has_figures",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RemoveIndex(model_name="run", name="run_to_sum_up"),
        # The column stays for a release: what still runs of the last one writes it, and such runs are summed up again.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name="run", name="is_summed_up")]
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(
                    ("has_figures", False), models.Q(("state__in", ("pending", "running")), _negated=True)
                ),
                fields=["-id"],
                name="run_without_figures",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(condition=models.Q(("has_figures", False)), fields=["pair"], name="run_of_points"),
        ),
    ]
