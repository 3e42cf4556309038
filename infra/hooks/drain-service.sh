#!/bin/sh
# Stops a systemd service before an event, and starts it again when the event is over, if it ran.
# As a hook: command: [/usr/local/lib/seb-hooks/drain-service.sh, app.service], once with on: prepare, once with
# on: recover. It needs leave to stop and start the service: 50-scheduled-events-bridge.rules.
set -eu

# The service; the first argument names another one.
UNIT=${1:-app.service}
# Where it remembers what it did, also beyond a reboot.
STATE=${SEB_HOOK_STATE:-/var/lib/scheduled-events-bridge/hooks}/drain-service/$UNIT

umask 022
mkdir -p "$STATE"
# Hooks of several events may run at once.
exec 9> "$STATE/lock"
flock 9
# What Azure writes becomes part of a file's name.
event=$STATE/event-$(printf %s "$SEB_EVENT_ID" | tr -c 'A-Za-z0-9-' '_')

case $SEB_PHASE in
prepare)
	: > "$event"
	if systemctl is-active --quiet "$UNIT"; then
		# First remembered, then done: what is cut short in between is only started once too often.
		: > "$STATE/ran"
		systemctl stop "$UNIT"
		echo "$UNIT is stopped"
	else
		echo "$UNIT does not run"
	fi
	;;
recover)
	rm -f "$event"
	# An event whose end nobody ever heard of must not keep the service down for good.
	find "$STATE" -name 'event-*' -mtime +7 -exec rm -f {} +
	if [ ! -e "$STATE/ran" ]; then
		echo "$UNIT was not stopped by this hook"
	elif [ -n "$(find "$STATE" -name 'event-*')" ]; then
		echo "$UNIT stays stopped: another event is announced"
	else
		systemctl start "$UNIT"
		rm -f "$STATE/ran"
		echo "$UNIT is started"
	fi
	;;
esac
