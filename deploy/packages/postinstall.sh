#!/bin/sh
# Called as `configure [version before]` by dpkg, and with the number of installed versions by rpm.
set -e
case ${1:-} in
  configure) before=${2:-} ;;
  2) before=some ;;
  *) before= ;;
esac
getent passwd svc >/dev/null ||
  useradd --system --user-group --home-dir /var/lib/svc --no-create-home --shell /usr/sbin/nologin \
    --comment "svc node" svc
install -d -m 750 -o svc -g svc /var/lib/svc
install -d -m 750 -o root -g root /etc/svc
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # A provider's leases and their traffic do not notice its restart.
  if [ -n "$before" ]; then systemctl try-restart svc-node.service svc-provider.service; fi
fi
