#!/bin/sh
# What the installer asks of systemd, done with the unit file that it wrote: the service's own words are run as they are.
set -eu
[ "$1" != --version ] || { echo "systemd 252 (252.1)"; exit 0; }
action=$1
shift
for word in "$@"; do case $word in -*) ;; *) service=$word ;; esac done
unit=/etc/systemd/system/${service:-none}.service
pid_file=/run/${service:-none}.pid
value() { sed -n "s/^$1=//p" "$unit"; }
stop() {
  [ -f "$pid_file" ] || return 0
  pid=$(cat "$pid_file")
  kill "$pid" 2>/dev/null || true
  # As systemd does, which stops nothing by halves.
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm -f "$pid_file"
}
echo "$action" >>/run/systemctl.log
case $action in
  daemon-reload | reset-failed | enable) ;;
  disable) stop ;;
  restart)
    stop
    state=/var/lib/$(value StateDirectory)
    mkdir -p -m 700 "$state"
    CREDENTIALS_DIRECTORY=/run/credentials/$service
    export CREDENTIALS_DIRECTORY
    mkdir -p "$CREDENTIALS_DIRECTORY"
    credential=$(value LoadCredential)
    cp "${credential#*:}" "$CREDENTIALS_DIRECTORY/${credential%%:*}"
    eval "exec setsid $(value ExecStart)" >/run/engine.log 2>&1 &
    echo $! >"$pid_file"
    ;;
  *) exit 1 ;;
esac
