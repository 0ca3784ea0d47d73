"""The notes are the annotations' now: see benchweb/annotations/migrations/0001_initial.py."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("regressions", "0001_initial"), ("annotations", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name="Annotation")]),
    ]
