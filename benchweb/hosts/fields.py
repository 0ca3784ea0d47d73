"""The field that keeps what a row's name is compared by."""

from django.db import models

from benchweb.common.names import name_key


class NameKeyField(models.CharField):  # type: ignore[type-arg]  # generic for the checker alone
    """The key of the row's `name`, written whenever the row is; an UPDATE of names writes it beside them."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """Return the key of the name as it is saved."""
        key = name_key(getattr(model_instance, "name"))  # noqa: B009  (any model with a name)
        setattr(model_instance, self.attname, key)
        return key
