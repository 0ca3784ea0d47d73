import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hosts", "0021_audit"),
        ("imports", "0003_audit"),
    ]

    operations = [
        # What was defined before belongs to all environments.
        migrations.AddField(
            model_name="ownkind",
            name="environment",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="hosts.environment",
            ),
        ),
        migrations.AddField(
            model_name="ownkind",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="ownmetric",
            name="environment",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="hosts.environment",
            ),
        ),
        migrations.AddField(
            model_name="ownmetric",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="ownmetric",
            name="key",
            field=models.CharField(db_column="name", max_length=60, unique=True),
        ),
    ]
