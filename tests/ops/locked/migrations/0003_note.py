import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A table with a foreign key, which Django adds once all else of the migration is done."""

    dependencies = [("locked", "0002_size")]
    operations = [
        migrations.CreateModel(
            "Note",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("thing", models.ForeignKey("locked.Thing", on_delete=django.db.models.deletion.CASCADE)),
            ],
        ),
    ]
