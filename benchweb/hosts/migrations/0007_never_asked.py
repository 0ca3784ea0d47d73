from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hosts", "0006_former_names")]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="status",
            field=models.CharField(
                choices=[
                    ("unknown", "not checked yet"),
                    ("answered", "answers"),
                    ("unreachable", "unreachable"),
                    ("refused", "refused"),
                    ("never_asked", "never asked"),
                ],
                default="unknown",
                max_length=20,
            ),
        ),
        migrations.RunSQL(
            """UPDATE hosts_endpoint e SET status = 'never_asked' FROM hosts_host h
               WHERE h.id = e.host_id AND h.is_synthetic""",
            """UPDATE hosts_endpoint SET status = 'answered' WHERE status = 'never_asked'""",
        ),
    ]
