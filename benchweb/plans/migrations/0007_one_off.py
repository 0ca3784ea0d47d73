from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("plans", "0006_order_examples"),
    ]

    operations = [
        migrations.AddField(
            model_name="plan",
            name="is_one_off",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
