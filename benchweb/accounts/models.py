"""What users have: roles, teams, invitations, tokens, saved views, preferences, sessions; users are Django's own."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchweb.accounts.audit.models import AuditEntry  # noqa: F401  (Django looks for models here)
from benchweb.common.names import MAXIMUM_KEY_LENGTH


class Role(models.TextChoices):
    """The roles that somebody may have, the least first; `permissions` says what each allows."""

    VIEWER = "viewer", _("Viewer")
    OPERATOR = "operator", _("Operator")
    EDITOR = "editor", _("Editor")
    ADMIN = "admin", _("Admin")


class Team(models.Model):
    """Users who have roles together."""

    name = models.CharField(max_length=100)
    # What names are compared by, as common.names has it.
    name_key = models.CharField(max_length=MAXIMUM_KEY_LENGTH, editable=False)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["name_key"], name="team_name_once")]

    def __str__(self) -> str:
        return self.name

    def environment_ids(self) -> set[int] | None:
        """Return the environments in which it has roles; None where that is everywhere, or where it has none."""
        ids = set(self.grants.values_list("environment", flat=True))
        return None if None in ids or not ids else ids


class Membership(models.Model):
    """A user in a team; a model of its own, so that the audit log has it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Grant(models.Model):
    """A role of a user or of a team, in one environment or everywhere."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="grants")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=8, choices=Role.choices)
    # Everywhere without one. By its name, for hosts is a room above this one.
    environment = models.ForeignKey("hosts.Environment", null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "team", "environment"], name="grant_once", nulls_distinct=False),
            models.CheckConstraint(
                condition=Q(user=None, team__isnull=False) | Q(user__isnull=False, team=None),
                name="grant_of_a_user_or_a_team",
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="grant_of_a_known_role"),
            # What an admin looks after belongs to no environment.
            models.CheckConstraint(condition=~Q(role=Role.ADMIN) | Q(environment=None), name="grant_admin_everywhere"),
        ]

    def __str__(self) -> str:
        return f"{self.role} for {self.team or self.user}"


class ApiToken(models.Model):
    """A bearer token, kept as its SHA-256 only; the first characters stay readable to tell tokens apart.

    It allows what its user may do, and no more than its scope; changes in `environment_ids` only, if there are any, and
    from `networks` only, if there are any.
    """

    class Scope(models.TextChoices):
        METRICS = "metrics", _("Metrics for Prometheus only")
        READ = "read", _("Read")
        RUN = "run", _("Read, launch and annotate")
        WRITE = "write", _("Change hosts, pairs and plans too")
        ADMIN = "admin", _("All that you may")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    scope = models.CharField(max_length=7, choices=Scope.choices, default=Scope.ADMIN, db_default=Scope.ADMIN)
    expires_at = models.DateTimeField(null=True)
    networks = ArrayField(models.CharField(max_length=43), default=list)
    environment_ids = ArrayField(models.BigIntegerField(), default=list)
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.CharField(max_length=45, blank=True, db_default="")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Invitation(models.Model):
    """A link that is good once: by it somebody makes their account, or sets the password of one that stands.

    Kept as its SHA-256 only. Who makes an account gets `role` everywhere and joins the teams.
    """

    digest = models.CharField(max_length=64, unique=True)
    # Without one, who has the link chooses a name.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    email = models.EmailField(blank=True)
    role = models.CharField(max_length=8, choices=Role.choices, blank=True)
    team_ids = ArrayField(models.BigIntegerField(), default=list)
    # Good only while this one is an admin.
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ListColumns(models.Model):
    """The columns of a list that a user has chosen to leave out."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="list_columns")
    list_name = models.CharField(max_length=40)
    hidden = ArrayField(models.CharField(max_length=40), default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "list_name"], name="list_columns_once")]

    def __str__(self) -> str:
        return f"{self.list_name} of {self.user}"


class SavedView(models.Model):
    """A page with its filters that a user comes back to: the address holds the whole view."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=100)
    # Path and query string, without the site.
    path = models.CharField(max_length=2000)
    position = models.PositiveIntegerField()
    # Everybody has it in the menu; only its user changes it.
    is_team = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.name


class Preferences(models.Model):
    """The pages as a user wants them; what is empty follows the browser."""

    class Theme(models.TextChoices):
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="preferences"
    )
    time_zone = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=10, choices=settings.LANGUAGES, blank=True)
    theme = models.CharField(max_length=5, choices=Theme.choices, blank=True)

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class UserSession(AbstractBaseSession):
    """A session as Django stores it, with who is logged in, since when and from where."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="sessions")
    logged_in_at = models.DateTimeField(null=True)
    # The address, and what the browser calls itself.
    address = models.CharField(max_length=45, blank=True)
    client = models.CharField(max_length=300, blank=True)
