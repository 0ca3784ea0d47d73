"""A real LDAP server with a few people and groups, on loopback."""

import contextlib
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.notifications.test_tls import certificate

ADDRESS = "127.0.0.1"
SUFFIX = "dc=example,dc=org"
SERVICE, SERVICE_PASSWORD = f"cn=benchweb,{SUFFIX}", "the service's password"
PASSWORD = "a password of the directory"  # pragma: allowlist secret
START_SECONDS = 30
_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {certificate}
TLSCertificateFile {certificate}
TLSCertificateKeyFile {certificate}
database mdb
suffix "{suffix}"
rootdn "{service}"
rootpw "{password}"
directory {folder}/data
# Who isn't logged in may only log in, as directories are commonly set up.
access to attrs=userPassword by anonymous auth by self write by * none
access to * by users read by * none
"""
_PERSON = """
dn: uid={name},ou=people,{suffix}
objectClass: inetOrgPerson
uid: {name}
cn: {name}
sn: {name}
mail: {name}@example.org
userPassword: {password}
"""
_GROUP = """
dn: cn={name},ou=groups,{suffix}
objectClass: groupOfNames
cn: {name}
{members}
"""


@dataclass(frozen=True)
class Directory:
    """A running slapd."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    port: int
    tls_port: int

    @classmethod
    def start(cls, folder: Path) -> "Directory":
        """Start one with ada, bob and carol, and the groups netops (ada, bob), leads (ada), everybody (netops)."""
        (folder / "data").mkdir(parents=True)
        places = {"folder": folder, "certificate": certificate(folder, ADDRESS), "suffix": SUFFIX}
        configuration = folder / "slapd.conf"
        configuration.write_text(_CONFIGURATION.format(service=SERVICE, password=SERVICE_PASSWORD, **places))
        entries = folder / "entries.ldif"
        entries.write_text(_entries())
        subprocess.run([_slapd(), "-T", "add", "-f", configuration, "-l", entries], check=True, capture_output=True)
        port, tls_port = _free_port(), _free_port()
        addresses = f"ldap://{ADDRESS}:{port}/ ldaps://{ADDRESS}:{tls_port}/"
        process = subprocess.Popen([_slapd(), "-d", "0", "-f", configuration, "-h", addresses])
        _await(port)
        return cls(process, folder, port, tls_port)

    def environment(self, **more: str) -> dict[str, str]:
        """Return the settings of a dashboard that asks this directory by TLS."""
        return {
            "BENCHWEB_LDAP_URL": f"ldaps://{ADDRESS}:{self.tls_port}",
            "BENCHWEB_LDAP_CA_FILE": str(self.folder / f"{ADDRESS}.pem"),
            "BENCHWEB_LDAP_BIND_DN": SERVICE,
            "BENCHWEB_LDAP_BIND_PASSWORD": SERVICE_PASSWORD,
            "BENCHWEB_LDAP_USERS_DN": f"ou=people,{SUFFIX}",
            "BENCHWEB_LDAP_GROUPS_DN": f"ou=groups,{SUFFIX}",
        } | more

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=START_SECONDS)


def _slapd() -> str:
    return shutil.which("slapd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "slapd"


def _entries() -> str:
    units = [f"dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: example\n"]
    units += [f"dn: ou={name},{SUFFIX}\nobjectClass: organizationalUnit\nou: {name}\n" for name in ("people", "groups")]
    people = [_PERSON.format(name=name, suffix=SUFFIX, password=PASSWORD) for name in ("ada", "bob", "carol")]
    groups = [
        _group("netops", f"uid=ada,ou=people,{SUFFIX}", f"uid=bob,ou=people,{SUFFIX}"),
        _group("leads", f"uid=ada,ou=people,{SUFFIX}"),
        _group("everybody", f"cn=netops,ou=groups,{SUFFIX}"),
    ]
    return "\n".join([*units, *people, *groups])


def _group(name: str, *members: str) -> str:
    return _GROUP.format(name=name, suffix=SUFFIX, members="\n".join(f"member: {member}" for member in members))


def _free_port() -> int:
    with socket.create_server((ADDRESS, 0)) as free:
        return int(free.getsockname()[1])


def _await(port: int) -> None:
    give_up_at = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection((ADDRESS, port), timeout=1):
            return
        assert time.monotonic() < give_up_at, "slapd did not start"
        time.sleep(0.05)
