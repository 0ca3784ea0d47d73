from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hosts", "0011_stored_names")]

    operations = [
        migrations.AddConstraint(
            model_name=model,
            constraint=models.UniqueConstraint(
                condition=models.Q(("archived_at", None)), fields=("name_key",), name=f"{model}_name_once_in_use"
            ),
        )
        for model in ("environment", "host")
    ]
