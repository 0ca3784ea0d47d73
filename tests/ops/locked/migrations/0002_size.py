from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("locked", "0001_thing")]
    operations = [
        migrations.AddField("Other", "size", models.IntegerField(null=True)),
        migrations.AddField("Thing", "size", models.IntegerField(null=True)),
    ]
