#!/bin/sh
# Has a program write down what it has only in memory, then stops its service; starts it again when the event is over.
# For what loses work: a Preempt or Terminate may leave 30 seconds. Flushing comes first, because time may run out.
# As a hook: command: [/usr/local/lib/seb-hooks/flush-and-stop.sh, app.service], once with on: prepare, once with
# on: recover. It needs leave to stop and start the service: 50-scheduled-events-bridge.rules.
set -eu

# The service; the first argument names another one.
UNIT=${1:-app.service}
# What flushes, in seconds at most; the rest of the hook's time is for stopping.
FLUSH_SECONDS=${FLUSH_SECONDS:-20}
# The program that flushes, such as one that asks for a checkpoint; the second argument names another one.
FLUSH=${2:-/usr/local/bin/app-checkpoint}
# Where it remembers what it did, also beyond a reboot.
STATE=${SEB_HOOK_STATE:-/var/lib/scheduled-events-bridge/hooks}/flush-and-stop/$UNIT

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
	if ! systemctl is-active --quiet "$UNIT"; then
		echo "$UNIT does not run"
		exit 0
	fi
	: > "$STATE/ran"
	flushed=yes
	# A flush that fails or takes too long is no reason to have the machine go down under a service that runs.
	timeout "$FLUSH_SECONDS" "$FLUSH" || flushed=no
	systemctl stop "$UNIT"
	sync
	if [ "$flushed" = no ]; then
		echo "$UNIT is stopped, but $FLUSH failed" >&2
		exit 1
	fi
	echo "$UNIT is flushed and stopped"
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
