"""Keys of requests that made something, each with its answer."""

from django.conf import settings
from django.contrib.postgres.indexes import BrinIndex
from django.db import models


class KeptAnswer(models.Model):
    """The answer to the first request with a key of somebody's, for those that repeat it.

    The row is written in the transaction of what the request makes: both are there, or neither is.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Of a call; without one the key is a page's form's.
    token_id = models.BigIntegerField(null=True)
    key = models.CharField(max_length=255)
    # Of method, address and body.
    request_digest = models.CharField(max_length=64)
    # Encrypted, for an answer may show a secret that is stored nowhere else; empty until there is one.
    answer_encrypted = models.BinaryField(default=b"")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "token_id", "key"], name="key_once", nulls_distinct=False)
        ]
        indexes = [BrinIndex(fields=["created_at"], name="kept_answer_created_at")]

    def __str__(self) -> str:
        return f"answer {self.pk}"
