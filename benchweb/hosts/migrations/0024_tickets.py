import django.db.models.deletion
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

from benchweb.accounts.audit.triggers import audited


def date_used_tickets(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Take for the tickets of before what is known of them: when they were used."""
    rows = apps.get_model("hosts", "Enrolment").objects
    rows.update(issued_at=F("claimed_at"), expires_at=F("claimed_at"))


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("accounts", "0013_audit_of_use"),
        ("hosts", "0023_labels"),
    ]

    operations = [
        migrations.AlterModelOptions(name="enrolment", options={"ordering": ["-id"]}),
        migrations.AddField(
            model_name="enrolment",
            name="issued_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="enrolment",
            name="token",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="accounts.apitoken",
            ),
        ),
        migrations.AddField(
            model_name="enrolment",
            name="issued_at",
            field=models.DateTimeField(auto_now_add=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="enrolment",
            name="expires_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(model_name="enrolment", name="revoked_at", field=models.DateTimeField(null=True)),
        migrations.AlterField(
            model_name="enrolment", name="machine", field=models.CharField(blank=True, max_length=64)
        ),
        migrations.AlterField(model_name="enrolment", name="claimed_at", field=models.DateTimeField(null=True)),
        migrations.RunPython(date_used_tickets, migrations.RunPython.noop),
        # What nobody used is removed by itself.
        audited("hosts_enrolment", events="INSERT OR UPDATE", ignored=("fault",), hidden=("number", "machine")),
    ]
