from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited

_IGNORED = ("next_at", "break_offs")


class Migration(migrations.Migration):
    dependencies = [
        ("schedules", "0010_arrangement"),
    ]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="counted_from",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="schedule",
            name="counted_offset_seconds",
            field=models.IntegerField(null=True),
        ),
        migrations.AddField(
            model_name="schedule",
            name="next_offset_seconds",
            field=models.IntegerField(null=True),
        ),
        migrations.RunSQL(
            "DROP TRIGGER audit ON schedules_schedule", audited("schedules_schedule", ignored=_IGNORED).sql
        ),
        audited(
            "schedules_schedule",
            ignored=(*_IGNORED, "counted_from", "counted_offset_seconds", "next_offset_seconds"),
        ),
    ]
