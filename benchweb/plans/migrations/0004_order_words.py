"""Say the interleaved order so that nobody takes it for each trial twice."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("plans", "0003_synthetic"),
    ]

    operations = [
        migrations.AlterField(
            model_name="planversion",
            name="order",
            field=models.CharField(
                choices=[
                    ("interleaved", "interleaved: each test once, then each again"),
                    ("sequential", "sequential: all repetitions of a test, then the next"),
                    ("shuffled", "shuffled: random, so that drift doesn't fall on one test"),
                ],
                max_length=20,
            ),
        ),
    ]
