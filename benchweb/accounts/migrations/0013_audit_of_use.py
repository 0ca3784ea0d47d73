from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_invitations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("created", "created"),
                    ("changed", "changed"),
                    ("deleted", "deleted"),
                    ("logged_in", "logged in"),
                    ("logged_out", "logged out"),
                    ("login_failed", "failed to log in"),
                    ("refused", "was refused"),
                    ("downloaded", "downloaded"),
                    ("used", "used"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="via",
            field=models.CharField(
                choices=[
                    ("page", "page"),
                    ("token", "API token"),
                    ("ticket", "ticket of a host"),
                    ("system", "benchweb itself"),
                ],
                max_length=6,
            ),
        ),
    ]
