from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited

_IGNORED, _HIDDEN = ("opened", "last_opened_at"), ("digest", "token_encrypted", "page")


class Migration(migrations.Migration):
    dependencies = [
        ("sharing", "0005_audit"),
    ]

    operations = [
        migrations.AddField(
            model_name="share",
            name="password",
            field=models.CharField(blank=True, db_default="", default="", max_length=128),
        ),
        migrations.RunSQL(
            "DROP TRIGGER audit ON sharing_share", audited("sharing_share", ignored=_IGNORED, hidden=_HIDDEN).sql
        ),
        audited("sharing_share", ignored=_IGNORED, hidden=(*_HIDDEN, "password")),
    ]
