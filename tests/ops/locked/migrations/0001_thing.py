from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel("Thing", [("id", models.BigAutoField(primary_key=True))]),
        migrations.CreateModel("Other", [("id", models.BigAutoField(primary_key=True))]),
    ]
