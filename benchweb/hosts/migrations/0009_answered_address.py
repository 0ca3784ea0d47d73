from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hosts", "0008_data_port")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="answered_address",
            field=models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
    ]
