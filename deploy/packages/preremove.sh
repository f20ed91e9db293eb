#!/bin/sh
# Called as `remove` or `upgrade` by dpkg, and with the number of versions that stay by rpm.
set -e
case ${1:-} in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl --no-reload disable --now svc-node.service svc-provider.service
fi
