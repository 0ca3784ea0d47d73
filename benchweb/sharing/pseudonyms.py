"""Stable pseudonyms: the same host or address has the same one everywhere, and nobody without the key can go back."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import idna

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.common.cache import remember
from benchweb.documents.hidden import tagged
from benchweb.sharing.one_search import one_of
from benchweb.sharing.readings import Reading, folded, folded_text, goes_on, readings

# Names that are words of every report are hidden where a sentence says that they name something: replaced everywhere
# they would spoil its sentences, and the catalog's own words in its documents. So are numbers, "1 of 3 trials".
_WORDS_OF_EVERY_REPORT = frozenset({"host", "source", "sink", "engine", "run", "trial", "pod", "server", "client"})
_NAMING = re.compile(r"\b(?:hosts?|uplink|endpoint|engine of|address \S+ of) ")
_LONGEST_CACHED, _CACHE_SIZE = 1_000, 2_000
# A blank in a name; in the parameters of a URL it is a plus.
_BLANKS = re.compile(r"[\s+]+")
_URL = re.compile(r"(?P<scheme>https?://)(?P<authority>[^/\s?#\"']+)", re.IGNORECASE)
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_FINGERPRINT = re.compile(r"\bsha256:[0-9a-f]{16,64}\b", re.IGNORECASE)
# Interfaces that are called after their MAC address.
_NAMED_BY_MAC = re.compile(r"\b(?:enx|wlx|wwx)[0-9a-f]{12}\b", re.IGNORECASE)
_MAC = re.compile(r"(?<![\w:])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:])", re.IGNORECASE)
# Not followed by a fifth number: that is a version.
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}:[0-9a-f:]*:[0-9a-f.]*(?:%\w+)?", re.IGNORECASE)

_FORMS = ((_UUID, "id"), (_FINGERPRINT, "fingerprint"), (_NAMED_BY_MAC, "interface"), (_MAC, "address"))


def url_hosts(value: Any) -> list[str]:
    """Return the names, not the addresses, of the servers whose URLs are anywhere in a document."""
    if isinstance(value, dict | list):
        return [host for item in (value.values() if isinstance(value, dict) else value) for host in url_hosts(item)]
    hosts = [_host_and_port(match["authority"])[0] for match in _URL.finditer(value)] if isinstance(value, str) else []
    return [host for host in hosts if host and not host.startswith("[") and not _is_address(host)]


@dataclass(frozen=True)
class _Match:
    """A part of a text that goes, and what takes its place."""

    start: int
    end: int
    instead: str


class Pseudonyms:
    """Replaces known names, and whatever looks like an address or an id of a machine, in texts and documents."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """`names` maps real names to their pseudonyms; they are found in whatever form a text writes them."""
        names = {name: pseudonym for name, pseudonym in names.items() if name.strip()}
        self._exact = {name.casefold(): pseudonym for name, pseudonym in names.items()}
        # Names as URLs write them come last: they are someone's own as well.
        names = {url_name: pseudonym for name, pseudonym in names.items() for url_name in _url_names(name)} | names
        self._forms = {lookalikes: _forms(names, lookalikes=lookalikes) for lookalikes in (False, True)}
        self._patterns = {lookalikes: list(_all_patterns(forms)) for lookalikes, forms in self._forms.items()}
        self._given = set(names.values())
        self._done: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text with every name and address replaced."""
        # Documents repeat the same few texts a thousand times; a long one comes once.
        if len(text) > _LONGEST_CACHED:
            return self._replaced(text)
        if text not in self._done:
            remember(self._done, text, self._replaced(text), most=_CACHE_SIZE)
        return self._done[text]

    def reason(self, reason: str) -> str:
        """Return a reason with its parameters replaced; a text that is none as `text` does."""
        if not isinstance(reason, Reason):
            return self.text(reason)
        return Reason(reason.code, **{name: self._parameter(value) for name, value in reason.params.items()})

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._parameter(item) for item in value]
        return self.reason(value) if isinstance(value, str) else value

    def deep(self, value: Any) -> Any:
        """Return a JSON document with every text in it replaced; keys are the catalog's and stay."""
        match value:
            case str():
                return self.text(value)
            case {"encoding": _, "data": str(data)}:
                # A latency distribution in base64, in which a short name might be found by chance.
                return {key: self.deep(item) for key, item in value.items()} | {"data": data}
            case dict():
                return {key: self.deep(item) for key, item in value.items()}
            case list():
                return [self.deep(item) for item in value]
            case _:
                return value

    def _replaced(self, text: str) -> str:
        text = _spliced(text, [match for reading in readings(text) for match in self._named(text, reading)])
        text = _substituted(_URL, self._url, text)
        for pattern, what in _FORMS:
            text = _substituted(pattern, _tagger(what), text)
        # ::ffff:192.0.2.1 is one address, not the end of one.
        return _substituted(_IPV4, _address, _substituted(_IPV6, _address, text))

    def _named(self, text: str, reading: Reading) -> Iterator[_Match]:
        """Find the names in one reading of a text, before those that only look like one."""
        for lookalikes in (True,) if reading.text.isascii() else (False, True):
            form = folded(reading, lookalikes=lookalikes)
            for pattern in self._patterns[lookalikes]:
                for match in pattern.finditer(form.text):
                    if not goes_on(form.text, match.end(2)):
                        start, end = form.original_span(match.start(2), match.end())
                        name = text[slice(*form.original_span(*match.span(2)))]
                        yield _Match(start, end, self._pseudonym(name, match[2], lookalikes=lookalikes))

    def _pseudonym(self, name: str, form: str, *, lookalikes: bool) -> str:
        form = _BLANKS.sub(" ", form)
        return self._exact.get(name.casefold()) or self._forms[lookalikes].get(form) or tagged("host", form)

    def _url(self, match: re.Match[str]) -> str:
        """Replace a URL's host, and leave out the user and password that may stand before it."""
        host, port = _host_and_port(match["authority"])
        if not host.startswith("[") and not _is_address(host) and host not in self._given:
            host = tagged("host", host.lower())
            self._given.add(host)
        return f"{match['scheme']}{host}{port}"


def _spliced(text: str, matches: Iterable[_Match]) -> str:
    """Replace parts of a text; of those that overlap all goes, and the longest says what takes its place."""
    merged: list[tuple[int, _Match]] = []
    for match in sorted(matches, key=lambda match: match.start):
        length = match.end - match.start
        if not merged or match.start >= merged[-1][1].end:
            merged.append((length, match))
            continue
        longest, last = merged.pop()
        instead = match.instead if length > longest else last.instead
        merged.append((max(length, longest), _Match(last.start, max(last.end, match.end), instead)))
    for _, match in reversed(merged):
        text = text[: match.start] + match.instead + text[match.end :]
    return text


def _substituted(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace what a pattern finds in a text as it stands, and then in its other readings."""
    text = pattern.sub(replacement, text)
    if text.isascii() and not any(sign in text for sign in "%&\\"):
        return text
    matches = (
        (form, match)
        for form in (folded(reading, lookalikes=False) for reading in readings(text))
        for match in pattern.finditer(form.text)
    )
    instead = ((form.original_span(*match.span()), match[0], replacement(match)) for form, match in matches)
    return _spliced(text, [_Match(*span, new) for span, old, new in instead if new != old])


def _forms(names: Mapping[str, str], *, lookalikes: bool) -> dict[str, str]:
    """Map names as they are looked for to pseudonyms; whose own letters they are comes before who looks like them."""
    plain = {name: folded_text(name, lookalikes=False) for name in names}
    forms = {name: folded_text(name, lookalikes=lookalikes) for name in names}
    own = {_BLANKS.sub(" ", forms[name]): names[name] for name in names if forms[name] == plain[name]}
    return {_BLANKS.sub(" ", forms[name]): names[name] for name in names} | own


def _url_names(name: str) -> Iterator[str]:
    """Return a name of letters beyond ASCII as the name service writes it, and the other way round.

    Both ways of writing are in use: "straße" is "strasse" by the older rules, an "xn--" name of its own by the newer.
    """
    convert: tuple[Callable[[str], str], ...] = ()
    if not name.isascii() and " " not in name:
        convert = (lambda text: text.encode("idna").decode(), lambda text: idna.encode(text, uts46=True).decode())
    elif "xn--" in name.lower():
        convert = (lambda text: text.encode().decode("idna"), lambda text: idna.decode(text, uts46=True))
    for function in convert:
        with suppress(UnicodeError):
            yield function(name)


def _all_patterns(forms: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """Find names that are words of every report where they name something, and the others everywhere."""
    visible = set(filter(str.strip, forms))
    common = set(filter(_is_common, visible))
    yield from _patterns(common, after=_NAMING.pattern)
    yield from _patterns(visible - common)


def _is_common(name: str) -> bool:
    """Tell whether a name is a word or a number of every report."""
    return name.lower() in _WORDS_OF_EVERY_REPORT | _catalog_words() or not any(map(str.isalpha, name))


@cache
def _catalog_words() -> frozenset[str]:
    """Return what the catalog calls its kinds, parameters, metrics, flags and limits, and the parts of these words."""
    document = catalog().document
    sections = ("kinds", "parameters", "metrics", "flags", "limits")
    words = {word.lower() for section in sections for word in document[section]}
    return frozenset(words | {part for word in words for part in word.split("_")})


def _patterns(names: Iterable[str], *, after: str = "") -> Iterator[re.Pattern[str]]:
    """Find names in folded texts, the longest there is: of host-1 and host-1.example.com the whole name goes.

    Letters and digits beside a name make another word of it; underscores don't, nor does a script that is written
    without spaces. A domain behind a name goes with it.
    """
    by_bounds: dict[tuple[str, str], list[str]] = {}
    for name in names:
        begin, end = (character.isascii() and character.isalnum() for character in (name[0], name[-1]))
        bounds = r"(?<![a-z0-9])" if begin else "", r"(?![a-z0-9])" if end else ""
        by_bounds.setdefault(bounds, []).append(name)
    domain = r"(?:\.[a-z0-9_-]*[a-z_-][a-z0-9_\u0300-\u036f-]*)*" + (r"(?!-)" if after else "")
    for (before, behind), words in sorted(by_bounds.items()):
        # Texts are folded: no case is left to be ignored, which would compare each word by itself.
        yield re.compile(f"({after}){before}({one_of(words, blank=_BLANKS.pattern)}){domain}{behind}")


def _host_and_port(authority: str) -> tuple[str, str]:
    """Split `user@host:port` into host and `:port`; an IPv6 address keeps its brackets."""
    rest = authority.rpartition("@")[2]
    if rest.startswith("["):
        host, bracket, port = rest.partition("]")
        return host + bracket, port
    host, colon, port = rest.partition(":")
    return host, colon + port


def _tagger(what: str) -> Callable[[re.Match[str]], str]:
    return lambda match: tagged(what, match[0].lower())


def _address(match: re.Match[str]) -> str:
    # A full stop after an address ends the sentence; a zone such as %eth0 belongs to the address.
    text = match[0].rstrip(".:") if not match[0].endswith("::") else match[0]
    bare = text.partition("%")[0]
    if not _is_address(bare) or ipaddress.ip_address(bare) == ipaddress.ip_address("::"):
        return match[0]
    address = ipaddress.ip_address(bare)
    # An IPv4 address has the same pseudonym when a socket of both families tells it.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return tagged("address", str(mapped or address)) + match[0][len(text) :]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
