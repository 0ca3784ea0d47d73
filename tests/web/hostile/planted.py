"""Hostile text in every field that holds text, found by Django's own introspection: a new field joins by itself."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, cast

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, IntegrityError, models, transaction

from tests.nights import NIGHT

# Where it isn't escaped `onx` becomes an attribute, in text as within either quotes.
SHORT = "<s/onx>'\"/onx="
LONG = SHORT + '<plaintext><p/hx-post=/logout>"><script>onx</script>]]>--></title></textarea>{{7*7}}onx{{7|add:42}}'
# What the code looks rows up by, or computes with: made or checked by the code itself at every door. With another text
# pages would show less than they do.
WORDS = {
    # Who logs in, and what is known by a digest, a key or an address.
    *("auth.User.password", "auth.User.username", "accounts.ApiToken.digest", "accounts.Invitation.digest"),
    *("accounts.UserSession.session_key", "accounts.UserSession.session_data", "sharing.Share.digest"),
    *("imports.Import.digest", "imports.Import.key", "hosts.Facts.digest", "regressions.Threshold.identity_digest"),
    *("results.Series.identity_digest", "results.EnvironmentNights.identity_digest", "sharing.Share.path"),
    *("hosts.Environment.name_key", "hosts.Host.name_key", "accounts.Team.name_key", "accounts.SavedView.path"),
    # Settings that are checked one by one, and permissions of Django's that nothing here asks for.
    *("site.SiteSetting.name", "site.SiteSetting.value", "site.SiteSecret.name"),
    *("auth.Permission.name", "auth.Permission.codename", "accounts.ListColumns.list_name"),
    # Times and zones.
    *("schedules.Schedule.cron", "schedules.Schedule.every", "schedules.Schedule.timezone", "sharing.Share.zone"),
    *("accounts.Preferences.time_zone", "notifications.Rule.time_zone"),
    # Names of kinds, metrics, reasons, templates, which the code or a pattern chooses.
    *("runs.Trial.kind", "results.Series.kind", "results.Series.metric", "imports.OwnMetric.key"),
    *("imports.OwnMetric.better", "imports.OwnKind.name", "imports.OwnKind.metrics", "imports.OwnKind.parameters"),
    *("results.EnvironmentNights.kind", "results.EnvironmentNights.metric", "regressions.Alert.code"),
    *("regressions.Threshold.kind", "regressions.Threshold.metric", "regressions.Sensitivity.kind"),
    *("regressions.Sensitivity.metric", "reports.Report.template", "regressions.Threshold.severity"),
    *("notifications.Rule.alert_kinds", "notifications.Rule.transitions", "plans.PlanVersion.steps"),
    *("plans.PlanVersion.confidence", "runs.Resource.uplink", "schedules.Schedule.target"),
}
# Members of JSON that are such words.
WORDS_OF_DOCUMENTS = {"severity"}
_PLAIN_VALUES: dict[type[Any], Any] = {
    models.DateField: date(2026, 11, 20),
    models.DurationField: timedelta(hours=1),
    models.BinaryField: b"",
    models.JSONField: {},
    ArrayField: [],
}


def project_models() -> list[type[models.Model]]:
    """Return the project's own models, and the people of Django's."""
    return [model for model in apps.get_models() if model.__module__.startswith(("benchweb.", "django.contrib.auth"))]


def text_fields(model: type[models.Model]) -> "Iterator[models.Field[Any, Any]]":
    """Yield the fields that hold free text, alone or within JSON and arrays."""
    for field in model._meta.concrete_fields:
        base = field.base_field if isinstance(field, ArrayField) else field
        if isinstance(base, models.CharField | models.TextField | models.JSONField) and not field.choices:
            yield field


def field_name(model: type[models.Model], field: "models.Field[Any, Any]") -> str:
    """Return what a field is called in WORDS."""
    return f"{model._meta.label}.{field.name}"


def plant() -> list[str]:
    """Write hostile text into every field of every row; return the fields that the database itself keeps from it."""
    kept = []
    for model in project_models():
        for field in text_fields(model):
            if field_name(model, field) in WORDS:
                continue
            try:
                with transaction.atomic():
                    for row in model._default_manager.all():
                        value = _hostile(field, getattr(row, field.attname), row.pk)
                        model._default_manager.filter(pk=row.pk).update(**{field.name: value})
            except DatabaseError:
                kept.append(field_name(model, field))
    return kept


def _hostile(field: "models.Field[Any, Any]", value: Any, pk: int) -> Any:
    if isinstance(field, ArrayField):
        return [_hostile(field.base_field, item, pk) for item in value or [""]]
    if isinstance(field, models.JSONField):
        return _document(value)
    if not isinstance(field, models.CharField | models.TextField):
        return value
    most = getattr(field, "max_length", None) or 10_000
    if field.unique:
        return f"{pk}{SHORT}"
    text = LONG if most >= len(LONG) else SHORT
    return text[:most]


def _document(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: item if key in WORDS_OF_DOCUMENTS else _document(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_document(item) for item in value]
    return LONG if isinstance(value, str) else value


def fill_empty() -> None:
    """Make a row of each model that holds text and has none yet, so that a new model joins by itself."""
    for model in project_models():
        if any(text_fields(model)) and not model._default_manager.exists():
            _row(model)


def _row(model: type[models.Model]) -> models.Model:
    """Make a row with what it must have; with all that it may refer to where the database asks for some of that."""
    try:
        with transaction.atomic():
            return model._default_manager.create(**_values(model, is_all=False))
    except IntegrityError:
        return model._default_manager.create(**_values(model, is_all=True))


def _values(model: type[models.Model], *, is_all: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, models.AutoField) or field.has_default():
            continue
        if field.is_relation and (is_all or not field.null):
            related = cast("type[models.Model]", field.related_model)
            values[field.name] = related._default_manager.first() or _row(related)
        elif not field.is_relation and not field.null:
            values[field.name] = field.choices[0][0] if field.choices else _value(field)
    return values


def _value(field: "models.Field[Any, Any]") -> Any:
    if isinstance(field, models.CharField | models.TextField):
        return "planted"
    if isinstance(field, models.DateTimeField):
        # Each later than the one before: what begins ends afterwards.
        return NIGHT + timedelta(minutes=field.creation_counter)
    return next((value for kind, value in _PLAIN_VALUES.items() if isinstance(field, kind)), 1)
