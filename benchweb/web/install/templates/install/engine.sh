{% autoescape off %}#!/bin/sh
# Sets up benchweb's engine on this host. It holds no secret: read it, then run it as root.
#
#   curl -fsSL {{ script }} | sudo sh -s -- TICKET [--port 7410] [--address ADDRESS] [--name NAME]
#     1. downloads the engine for this machine from the dashboard and checks its SHA-256, which is below;
#     2. fetches this engine's own token with the ticket, which works once, into /etc/benchweb-engine/token;
#     3. installs the sandboxed systemd service that is below, starts it, and has this host added.
#   curl -fsSL {{ script }} | sudo sh -s -- --update      the newest program, with the token that is there
#   curl -fsSL {{ script }} | sudo sh -s -- --uninstall   stops the engine and removes all of the above
#
# --port     the control port; test traffic uses the next one. Further engines of one host differ by it.
# --address  where the dashboard reaches this host; otherwise the address from which this host reaches the dashboard.
# --name     what the dashboard calls this host; otherwise its host name.
{% if is_plain_http %}#
# This dashboard is reached by plain http: whoever can change the traffic between it and this host can change this script,
# and whoever can read the traffic learns the engine's token. Compare this file with the SHA-256 that the dashboard's page
# of a new host shows, before root runs it.
{% endif %}set -eu

DASHBOARD={{ dashboard }}
PROGRAM=/usr/local/bin/benchweb-engine
UNITS=/etc/systemd/system
START_SECONDS=30
ANSWER_SECONDS=60
DOWNLOAD_SECONDS=900

sha256_of() {
  case $1 in
{% for program in programs %}    {{ program.architecture }}) echo {{ program.sha256 }} ;;
{% endfor %}    *) return 1 ;;
  esac
}

unit_file() {
  cat <<'UNIT'
{{ unit }}
UNIT
}

fail() {
  echo "benchweb-engine: $*" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# download ADDRESS FILE
download() {
  if has curl; then
    curl -fsSL --retry 2 --connect-timeout "$ANSWER_SECONDS" --max-time "$DOWNLOAD_SECONDS" -o "$2" "$1"
  else
    wget -q -T "$ANSWER_SECONDS" -O "$2" "$1"
  fi
}

# ask PATH NAME=VALUE…: the answer is in $work/answer, the address that this host used in $work/local.
ask() {
  path=$1
  shift
  rm -f "$work/answer"
  if has curl; then
    for pair in "$@"; do
      set -- "$@" --data-urlencode "$pair"
      shift
    done
    status=$(curl -sS --max-time "$ANSWER_SECONDS" -o "$work/answer" -w '%{http_code} %{local_ip}' "$@" "$DASHBOARD$path") || return 1
    echo "${status#* }" >"$work/local"
    case $status in 2*) return 0 ;; *) return 1 ;; esac
  fi
  body=
  for pair in "$@"; do
    body="$body&$(printf %s "$pair" | sed -e 's/%/%25/g' -e 's/&/%26/g' -e 's/+/%2B/g' -e 's/ /%20/g')"
  done
  hostname -I 2>/dev/null | cut -d ' ' -f 1 >"$work/local"
  # BusyBox' has no such option, and then keeps the dashboard's words to itself.
  words=
  ! wget --help 2>&1 | grep -q content-on-error || words="--content-on-error --tries=2"
  wget -q -T "$ANSWER_SECONDS" $words -O "$work/answer" --post-data "${body#&}" "$DASHBOARD$path"
}

answer() {
  cat "$work/answer" 2>/dev/null || echo "$DASHBOARD can't be reached from here."
}

# The unit keeps its token as a credential, which came with systemd 247.
is_systemd() {
  [ -d /run/systemd/system ] && has systemctl &&
    [ "$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')" -ge 247 ]
}

download_program() {
  machine=$(uname -m)
  sum=$(sha256_of "$machine") || fail "the dashboard has no engine for $machine: docs/engine.md says how to build one."
  echo "Downloading the engine for $machine…"
  download "$DASHBOARD/install/engine/$machine" "$work/program" || fail "$DASHBOARD can't be reached from here."
  echo "$sum  $work/program" | sha256sum -c - >/dev/null 2>&1 ||
    fail "the program that was downloaded is not the one of this script (SHA-256 $sum): nothing was installed."
}

place_program() {
  mkdir -p "${PROGRAM%/*}"
  # Beside the old one and then in its place: a running engine keeps what it was started from.
  cp "$work/program" "$PROGRAM.new"
  chmod 755 "$PROGRAM.new"
  mv -f "$PROGRAM.new" "$PROGRAM"
}

fetch_token() {
  ask /install/claim "ticket=$ticket" "machine=$boot_id" "name=$name" ||
    fail "$(answer)"
  [ -n "$address" ] || address=$(cat "$work/local")
  mv "$work/answer" "$work/token"
}

place_token() {
  mkdir -p "/etc/$service"
  chmod 700 "/etc/$service"
  cp "$work/token" "/etc/$service/token"
  chmod 600 "/etc/$service/token"
}

install_unit() {
  mkdir -p "$UNITS"
  unit_file | sed \
    -e "s|0\.0\.0\.0:7410|0.0.0.0:$port|" -e "s|--data-port 7411|--data-port $data_port|" \
    -e "s|/var/lib/benchweb-engine|/var/lib/$service|g" -e "s|/etc/benchweb-engine/token|/etc/$service/token|g" \
    -e "s|^StateDirectory=.*|StateDirectory=$service|" >"$UNITS/$service.service"
  chmod 644 "$UNITS/$service.service"
  rm -f "/var/lib/$service/listening.json"
  systemctl daemon-reload
  systemctl enable --quiet "$service"
  systemctl restart "$service"
  wait_for_engine
}

wait_for_engine() {
  seconds=0
  until [ -s "/var/lib/$service/listening.json" ]; do
    [ "$seconds" -lt "$START_SECONDS" ] || fail "the engine has not started: journalctl -u $service says why."
    sleep 1
    seconds=$((seconds + 1))
  done
}

say_how_to_start() {
  mkdir -p "/var/lib/$service"
  chmod 700 "/var/lib/$service"
  cat <<START
This host has no systemd 247 or newer: program and token are installed, and the engine is not started. Start it with
  $PROGRAM serve --listen 0.0.0.0:$port --data-port $data_port --state-dir /var/lib/$service --token-file /etc/$service/token
and let your init system (OpenRC, runit, an older systemd, a container's command) run the same at every boot, as a user who may read that
token file and write that folder. The dashboard's page of the host turns green as soon as it answers.
START
}

add_host() {
  fingerprint=
  [ ! -r "/var/lib/$service/listening.json" ] ||
    fingerprint=$(sed -n 's/.*"fingerprint": *"\(sha256:[0-9a-f]*\)".*/\1/p' "/var/lib/$service/listening.json")
  ask /install/ready "ticket=$ticket" "machine=$boot_id" "name=$name" "address=$address" "port=$port" \
    "fingerprint=$fingerprint" ||
    fail "$(answer) The engine is installed;" \
      "run the script again with the same ticket, with --address or --name where those are at fault."
  echo "Added: $(cat "$work/answer")"
  echo "Open ports: TCP $port from the dashboard's workers, TCP and UDP $data_port from the other hosts."
}

say_what_is_open() {
{% if is_plain_http %}  echo "Warning: $DASHBOARD is plain http. Others on the way can change what is downloaded, and read the engine's token." >&2
{% else %}  :
{% endif %}}

install_engine() {
  [ -n "$ticket" ] || fail "the ticket is missing: copy the whole command from the dashboard (Hosts, Add a host)."
  say_what_is_open
  download_program
  fetch_token
  # Another token would leave the host that was added with the first one without its engine.
  [ ! -f "/etc/$service/token" ] || [ "$(cat "/etc/$service/token")" = "$(cat "$work/token")" ] ||
    fail "an engine is set up here already: --update takes the newest program, --uninstall removes it, --port sets up another."
  place_program
  place_token
  if is_systemd; then
    install_unit
  else
    say_how_to_start
  fi
  add_host
}

update_engine() {
  [ -f "/etc/$service/token" ] || fail "there is no engine $service to update here."
  say_what_is_open
  download_program
  place_program
  if is_systemd; then
    install_unit
  else
    echo "Updated: start the engine anew."
  fi
  echo "Updated to $("$PROGRAM" --version)."
}

uninstall_engine() {
  if is_systemd; then
    systemctl disable --now --quiet "$service" 2>/dev/null || true
  fi
  rm -f "$UNITS/$service.service"
  rm -rf "$UNITS/$service.service.d" "/etc/$service" "/var/lib/$service" "/var/lib/private/$service"
  # Another engine of this host uses the same program.
  ls "$UNITS"/benchweb-engine*.service >/dev/null 2>&1 || rm -f "$PROGRAM" "$PROGRAM.new"
  if is_systemd; then
    systemctl daemon-reload
    systemctl reset-failed "$service" 2>/dev/null || true
  else
    echo "There is no systemd 247 or newer here: an engine that you started yourself still runs, until you stop it."
  fi
  echo "Removed. In the dashboard, archive the host: its results stay."
}

main() {
  action=install ticket='' port=7410 address='' name=''
  while [ $# -gt 0 ]; do
    case $1 in
      --uninstall) action=uninstall ;;
      --update) action=update ;;
      --port | --address | --name)
        [ $# -gt 1 ] || fail "$1 needs a value."
        case $1 in --port) port=$2 ;; --address) address=$2 ;; --name) name=$2 ;; esac
        shift
        ;;
      -*) fail "$1 is not known: --port, --address, --name, --update and --uninstall are." ;;
      *) ticket=$1 ;;
    esac
    shift
  done
  case $port in '' | *[!0-9]*) fail "--port needs a number." ;; esac
  [ "$port" -ge 1 ] && [ "$port" -le 65534 ] || fail "a port is from 1 to 65534: test traffic uses the next one."
  data_port=$((port + 1))
  service=benchweb-engine
  [ "$port" = 7410 ] || service=benchweb-engine-$port
  [ "$(id -u)" = 0 ] || fail "run this as root, for example with sudo."
  has curl || has wget || [ "$action" = uninstall ] || fail "neither curl nor wget is here: install one of them."
  [ -n "$name" ] || name=$(uname -n)
  boot_id=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || true)
  umask 077
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "${action}_engine"
}

# Last, so that half a download does nothing.
main "$@"
{% endautoescape %}