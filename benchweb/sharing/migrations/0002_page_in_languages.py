"""Shares that were frozen in one language are shown so to every reader."""

from django.db import migrations

WRAP = "UPDATE sharing_share SET page = jsonb_build_object('en', page) WHERE page IS NOT NULL"
UNWRAP = "UPDATE sharing_share SET page = page -> 'en' WHERE page IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [("sharing", "0001_initial")]

    operations = [migrations.RunSQL(WRAP, UNWRAP)]
