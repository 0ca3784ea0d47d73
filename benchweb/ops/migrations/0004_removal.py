from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [("ops", "0003_backup")]

    operations = [
        migrations.CreateModel(
            name="Removal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("what", models.CharField(choices=[("run", "Run"), ("host", "Host")], max_length=4)),
                ("of", models.BigIntegerField()),
                ("name", models.CharField(max_length=500)),
                ("requested_at", models.DateTimeField()),
                ("runs", models.PositiveIntegerField(default=0)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("what", "of"), name="removal_once")],
            },
        ),
        audited("ops_removal", ignored=("runs",)),
    ]
