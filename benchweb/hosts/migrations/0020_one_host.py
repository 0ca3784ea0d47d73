"""Let a pair be one host alone: both of its ends the same endpoint."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("hosts", "0019_enrolments")]

    operations = [migrations.RemoveConstraint(model_name="pair", name="pair_has_two_endpoints")]
