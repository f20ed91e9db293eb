#!/bin/sh
# Called as `remove`, `purge` or `upgrade` by dpkg, and with the number of versions that stay by rpm.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
case ${1:-} in
  purge | 0) ;;
  *) exit 0 ;;
esac
# Keys, chains and volumes of tenants are worth more than a clean disk.
left=
for place in /etc/svc /var/lib/svc /root/.svc; do
  if [ -e "$place" ]; then left="$left $place"; fi
done
if [ -n "$left" ]; then
  echo "svc: these stay, because they may hold keys, chains and volumes of tenants:$left"
  echo "svc: the user svc and containers of leases stay too"
fi
