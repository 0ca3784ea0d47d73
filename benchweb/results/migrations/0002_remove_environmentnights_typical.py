"""Environments are told by the middle setting, whatever was best: nothing reads how good each is."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("results", "0001_tables")]

    operations = [migrations.RemoveField(model_name="environmentnights", name="typical")]
