"""Say the orders by example."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("plans", "0005_stored_names"),
    ]

    operations = [
        migrations.AlterField(
            model_name="planversion",
            name="order",
            field=models.CharField(
                choices=[
                    ("interleaved", "interleaved (A B C, A B C, …)"),
                    ("sequential", "sequential (A A, B B, C C, …)"),
                    ("shuffled", "shuffled (random order)"),
                ],
                max_length=20,
            ),
        ),
    ]
