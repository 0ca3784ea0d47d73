from django.db import migrations

import benchweb.hosts.fields


class Migration(migrations.Migration):
    dependencies = [("hosts", "0009_answered_address")]

    operations = [
        migrations.AddField(
            model_name=model,
            name="name_key",
            field=benchweb.hosts.fields.NameKeyField(default="", editable=False, max_length=600),
            preserve_default=False,
        )
        for model in ("environment", "host")
    ]
