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
                    ("interleaved", "interleaved: each trial once, then each a second time, and so on"),
                    ("sequential", "sequential: all repetitions of a trial, then the next"),
                    ("shuffled", "shuffled: random, so that drift doesn't fall on one trial"),
                ],
                max_length=20,
            ),
        ),
    ]
