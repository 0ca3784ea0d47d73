"""What is measured: hosts, their endpoints, environments, pairs, and the facts seen on them."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from benchweb.catalog.reasons import ReasonOf
from benchweb.common.names import MAXIMUM_KEY_LENGTH
from benchweb.hosts.fields import NameKeyField
from benchweb.labels import Labelled


class Archivable(models.Model):
    """A row that is archived rather than deleted, so that its history keeps its names."""

    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class NamedOnce(Archivable):
    """A row whose name no other in use has, in any case or spelling."""

    name_key = NameKeyField(max_length=MAXIMUM_KEY_LENGTH, editable=False)

    class Meta:
        abstract = True


class Environment(NamedOnce):
    """A stable label for what is being compared: distribution, zone setting, machine type."""

    description = models.TextField(blank=True)
    # Made up by generate_history, with everything that hangs on it: shown so on every page, never measured.
    is_synthetic = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["name_key"], condition=Q(archived_at=None), name="environment_name_once_in_use"
            ),
        ]


class Host(Labelled, NamedOnce):
    """A machine."""

    description = models.TextField(blank=True)
    # The uplink or site that this host shares with others of the same name: a run that leaves it occupies it.
    uplink = models.CharField(max_length=60, blank=True)
    # Whose people may pair it; all environments of its pairs in use are among them, see hosts.belonging.
    environment_ids = ArrayField(models.BigIntegerField(), default=list, db_default=[])
    # Whether its engines measure it alone once a night (hosts.canaries): about a second of memory, CPU and loopback.
    has_canary = models.BooleanField(default=True, db_default=True)
    # Made up by generate_history: no engine answers there, so it is neither probed nor measured.
    is_synthetic = models.BooleanField(default=False, db_default=False, editable=False)
    # The host whose resource stands for the machine that both are; None where it is this one.
    machine = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="same_machine", editable=False
    )

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["name_key"], condition=Q(archived_at=None), name="host_name_once_in_use"),
        ]

    @property
    def machine_key(self) -> int:
        """The id of the host that stands for this one's machine."""
        return self.machine_id or self.pk


class FormerName(models.Model):
    """What a host, its uplink or one of its endpoints was called until it was changed; written by the database.

    Reasons and events of that time still say it.
    """

    class What(models.TextChoices):
        HOST = "host", "host"
        UPLINK = "uplink", "uplink"
        ENDPOINT = "endpoint", "endpoint"
        ADDRESS = "address", "address"

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="former_names")
    what = models.CharField(max_length=10, choices=What.choices)
    text = models.CharField(max_length=255)
    until = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class Endpoint(models.Model):
    """One way to reach a host: its engine's control address and the address that test traffic uses."""

    class Status(models.TextChoices):
        UNKNOWN = "unknown", _("not checked yet")
        ANSWERED = "answered", _("answers")
        UNREACHABLE = "unreachable", _("unreachable")
        REFUSED = "refused", _("refused")
        # Of a synthetic host: there is no engine to ask.
        NEVER_CHECKED = "never_asked", _("never asked")

    class Rotation(models.TextChoices):
        TOKEN = "token", _("token")
        CERTIFICATE = "certificate", _("certificate")

    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="endpoints")
    name = models.CharField(max_length=100, blank=True)
    control_address = models.CharField(max_length=255, help_text="HOST:PORT of the engine's control API")
    data_address = models.CharField(max_length=255, blank=True, help_text="address test traffic uses")
    network_mode = models.CharField(max_length=40, default="host")
    bind_device = models.CharField(max_length=15, blank=True)
    # Entered by people, for where the kernel tells no speed of the link; what the kernel tells goes before it.
    link_bps = models.FloatField(null=True, blank=True)
    token_encrypted = models.BinaryField(default=b"")
    fingerprint = models.CharField(max_length=71, blank=True)
    # Insisted on: another host's engine may have the same certificate.
    same_machine = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.UNKNOWN)
    status_reason = models.TextField(blank=True)
    status_reason_data = models.JSONField(null=True)
    why = ReasonOf("status_reason")
    checked_at = models.DateTimeField(null=True)
    engine_version = models.CharField(max_length=40, blank=True)
    catalog_version = models.IntegerField(null=True)
    # What its last check found: a run's traffic goes to no other port.
    data_port = models.PositiveIntegerField(null=True)
    # The IP address and port at which its engine answered last: of any other nothing is told but that it can't be used.
    answered_address = models.CharField(max_length=60, blank=True, default="", db_default="")
    clock_offset_seconds = models.FloatField(null=True)
    round_trip_seconds = models.FloatField(null=True)
    seen_fingerprint = models.CharField(max_length=71, blank=True)
    # Since when its engine has not answered, run and probe alike; None while it does.
    unreachable_since = models.DateTimeField(null=True)
    # When the tick asks for its next probe; spread over the minute by the endpoint's id.
    probe_due_at = models.DateTimeField(null=True)
    # What was to be replaced last (who asked for it stands in the audit log); the reason is why it was not.
    rotation = models.CharField(max_length=20, choices=Rotation.choices, blank=True, default="", db_default="")
    rotation_requested_at = models.DateTimeField(null=True)
    rotation_ended_at = models.DateTimeField(null=True)
    rotation_reason = models.TextField(blank=True, default="", db_default="")
    rotation_reason_data = models.JSONField(null=True)
    rotation_why = ReasonOf("rotation_reason")

    class Meta:
        ordering = ["host__name", "id"]

    def __str__(self) -> str:
        return endpoint_label(self.host_name, self.name, self.network_mode)

    @property
    def host_name(self) -> str:
        return self.host.name


def endpoint_label(host: str, name: str, network_mode: str) -> str:
    """Call an endpoint by its host, and by its own name or mode where that says more."""
    label = name or network_mode
    return host if label == host else f"{host} ({label})"


class Enrolment(models.Model):
    """A ticket by which a host's script sets up one engine: who issued it, until when, and which machine used it."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        CLAIMED = "claimed", _("installing")
        USED = "used", pgettext_lazy("state of a ticket", "used")
        EXPIRED = "expired", _("expired")
        REVOKED = "revoked", _("revoked")

    number = models.CharField(max_length=32, unique=True)
    # Good only while this one may add hosts, and while the token holds by which it was issued, if one was.
    issued_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    token = models.ForeignKey("accounts.ApiToken", null=True, on_delete=models.SET_NULL, related_name="+")
    issued_at = models.DateTimeField(auto_now_add=True)
    # The end of the time to fetch the engine's token; once that is fetched, of the time to be added.
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    # The boot id of the kernel: the token is told to no other machine.
    machine = models.CharField(max_length=64, blank=True)
    host_name = models.CharField(max_length=100, blank=True)
    claimed_at = models.DateTimeField(null=True)
    # The endpoint that it is for; of a ticket for a new host the one that was added, at `added_at`.
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.CASCADE, related_name="enrolments")
    added_at = models.DateTimeField(null=True)
    # Why the host was not added when it asked last.
    fault = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"ticket {self.pk}"

    @property
    def state(self) -> State:
        """Return what has become of it."""
        if self.added_at is not None:
            return self.State.USED
        if self.revoked_at is not None or self._is_left_behind:
            return self.State.REVOKED
        if self.expires_at > timezone.now():
            return self.State.OPEN if self.claimed_at is None else self.State.CLAIMED
        # That of an endpoint is used up by the token that it gave.
        is_used = self.claimed_at is not None and self.endpoint_id is not None
        return self.State.USED if is_used else self.State.EXPIRED

    @property
    def _is_left_behind(self) -> bool:
        """Tell whether who issued it has no account any more, or the token by which they did is revoked."""
        is_gone = self.issued_by is None or not self.issued_by.is_active
        return is_gone or (self.token is not None and self.token.revoked_at is not None)

    @property
    def is_open(self) -> bool:
        """Tell whether something can still be added by it."""
        return self.state in (self.State.OPEN, self.State.CLAIMED)


class Pair(Labelled):
    """Source endpoint to sink endpoint in an environment; one host alone where both are the same endpoint."""

    class Path(models.TextChoices):
        PENDING = "pending", _("not checked yet")
        PASSES = "passes", _("TCP and UDP pass")
        NARROW = "narrow", _("large packets vanish")
        BLOCKED = "blocked", _("blocked")
        # An engine is too old for the check, or can't be asked.
        UNCHECKED = "unchecked", _("not checked")

    source = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="pairs_as_source")
    sink = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="pairs_as_sink")
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="pairs")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    # What the last check of the data path found, in a word, a sentence and figures (hosts.path_checks.PathFound).
    path_status = models.CharField(max_length=20, choices=Path.choices, default=Path.PENDING, db_default=Path.PENDING)
    path_reason = models.TextField(blank=True, default="", db_default="")
    path_reason_data = models.JSONField(null=True)
    path_why = ReasonOf("path_reason")
    path_found = models.JSONField(null=True)
    path_checked_at = models.DateTimeField(null=True)
    # When the tick asks for the next check; None for as soon as both engines answer.
    path_due_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "sink", "environment"],
                condition=Q(archived_at=None),
                name="pair_once_in_environment",
            ),
        ]

    def __str__(self) -> str:
        return pair_label(str(self.source), str(self.sink), is_one_host=self.is_one_host)

    @property
    def is_one_host(self) -> bool:
        """Tell whether one host is measured alone: no traffic goes anywhere."""
        return self.source_id == self.sink_id


def pair_label(source: str, sink: str, *, is_one_host: bool = False) -> str:
    """Call a pair by its endpoints' labels; one host alone by its own."""
    return source if is_one_host else f"{source} → {sink}"


class Facts(models.Model):
    """What was true of an endpoint's host from `first_seen_at` to `last_seen_at`; equal facts are one row."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="facts")
    digest = models.CharField(max_length=64)
    document = models.JSONField()
    # What the document says, a line a fact, for the search; made by the database.
    words = models.GeneratedField(
        expression=Func(F("document"), function="hosts_facts_words"), output_field=models.TextField(), db_persist=True
    )
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_seen_at"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "digest"], name="facts_once_per_endpoint")]
        # A search matches words anywhere in a host's facts, former ones too.
        indexes = [GinIndex(OpClass(Upper("words"), name="gin_trgm_ops"), name="facts_by_trigram", fastupdate=False)]


class AvailabilitySpan(models.Model):
    """An endpoint in one state without a break, as the probes of every minute found it: one row per change."""

    class State(models.TextChoices):
        ANSWERED = "answered", "answered"
        # The machine answers, but nothing listens at the engine's port, or what does is no engine.
        ENGINE_DOWN = "engine_down", "engine down"
        UNREACHABLE = "unreachable", "unreachable"

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="availability")
    state = models.CharField(max_length=20, choices=State.choices)
    reason = models.TextField(blank=True)
    reason_data = models.JSONField(null=True)
    why = ReasonOf("reason")
    since = models.DateTimeField()
    # The last probe that found it so. It holds until the next span where that begins at most PROBE_GAP later.
    until = models.DateTimeField()

    class Meta:
        ordering = ["endpoint_id", "since"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "since"], name="availability_span_once")]


class ProbeHour(models.Model):
    """An endpoint's probes of one hour: response time, and what its host's own sampler told of load."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="probe_hours")
    hour = models.DateTimeField()
    probes = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    round_trip_least_seconds = models.FloatField(null=True)
    round_trip_most_seconds = models.FloatField(null=True)
    # Sums over the probes that told; with their own counts, so that missing is never zero.
    round_trip_sum_seconds = models.FloatField(default=0)
    utilised = models.PositiveIntegerField(default=0)
    cpu_ratio_sum = models.FloatField(default=0)
    cpu_ratio_most = models.FloatField(null=True)
    metered = models.PositiveIntegerField(default=0)
    received_bps_sum = models.FloatField(default=0)
    received_bps_most = models.FloatField(null=True)
    sent_bps_sum = models.FloatField(default=0)
    sent_bps_most = models.FloatField(null=True)
    link_bps = models.FloatField(null=True)

    class Meta:
        ordering = ["endpoint_id", "hour"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "hour"], name="probe_hour_once")]


class CanaryTurn(models.Model):
    """When an endpoint's engine may next be asked to measure its host alone; one row an endpoint that ever was."""

    endpoint = models.OneToOneField(Endpoint, on_delete=models.CASCADE, related_name="canary_turn", primary_key=True)
    due_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"canary of endpoint {self.endpoint_id}"


class CanaryMetric(models.TextChoices):
    """What a host measures alone."""

    MEMORY = "memory_copy_bytes_per_second", _("Memory copying")
    SPIN = "spin_seconds", _("Fixed calculation")
    LOOPBACK = "loopback_round_trip_seconds", _("Loopback round trip")


class CanaryFigure(models.Model):
    """What an endpoint's host measured alone in a night: one figure of several passes, with its least and most."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="canary_figures")
    at = models.DateTimeField()
    metric = models.CharField(max_length=40, choices=CanaryMetric.choices)
    median = models.FloatField()
    least = models.FloatField()
    most = models.FloatField()
    n = models.PositiveIntegerField()

    class Meta:
        ordering = ["endpoint_id", "at", "id"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "at", "metric"], name="canary_figure_once")]

    def __str__(self) -> str:
        return f"{self.metric} of endpoint {self.endpoint_id}"
