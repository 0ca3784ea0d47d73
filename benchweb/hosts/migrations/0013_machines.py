"""Know which hosts are one machine."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hosts", "0012_names_once")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="same_machine",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="host",
            name="machine",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="same_machine",
                to="hosts.host",
            ),
        ),
    ]
