"""Let a search find words anywhere in facts by an index."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations
from django.db.models.functions import Upper


class Migration(migrations.Migration):
    dependencies = [("hosts", "0014_known_doubles")]

    operations = [
        TrigramExtension(),
        migrations.AddIndex(
            model_name="facts",
            index=GinIndex(OpClass(Upper("words"), name="gin_trgm_ops"), name="facts_by_trigram", fastupdate=False),
        ),
    ]
