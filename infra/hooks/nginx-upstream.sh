#!/bin/sh
# Marks this VM as down in an upstream of nginx before an event, and takes the mark away when the event is over.
# For an nginx whose file is on this machine. Where it is elsewhere, let the three functions go there, by ssh for example.
# As a hook: command: [/usr/local/lib/seb-hooks/nginx-upstream.sh, "10.0.0.4:8080"], once with on: prepare, once with
# on: recover. It needs leave to reload nginx (50-scheduled-events-bridge.rules), and to write the folder of the file
# (ReadWritePaths= in hooks.conf, and the folder's owner).
set -eu

# As it stands behind `server` in the upstream; the first argument names another one.
SERVER=${1:-10.0.0.4:8080}
# The file that has the upstream, best one that holds nothing else and is included.
FILE=${2:-/etc/nginx/upstreams/app.conf}
# How long requests that are under way may take, in seconds.
GRACE_SECONDS=${GRACE_SECONDS:-10}
# Where it remembers for which events the server is out.
STATE=${SEB_HOOK_STATE:-/var/lib/scheduled-events-bridge/hooks}/nginx-upstream

check() { nginx -t -q; }
reload() { systemctl reload nginx; }
put() { mv "$1" "$FILE"; }

umask 022
mkdir -p "$STATE"
# Hooks of several events may run at once.
exec 9> "$STATE/lock"
flock 9
# What Azure writes becomes part of a file's name.
event=$STATE/event-$(printf %s "$SEB_EVENT_ID" | tr -c 'A-Za-z0-9-' '_')
mark='down; # by scheduled-events-bridge'

# Writes the file anew: with the mark, or without it. A server that somebody else has marked as down stays as it is.
edit() {
	awk -v wish="$1" -v server="$SERVER" -v mark="$mark" '
		$1 == "server" && ($2 == server || $2 == server ";") {
			at = index($0, " " mark)
			if (wish == "out" && at == 0 && $0 !~ / down[ ;]/) sub(/;/, " " mark)
			if (wish == "in" && at > 0) $0 = substr($0, 1, at - 1) ";" substr($0, at + length(mark) + 1)
		}
		{ print }' "$FILE" > "$FILE.new"
	if cmp -s "$FILE" "$FILE.new"; then
		rm -f "$FILE.new"
		echo "nothing to change for $SERVER in $FILE"
		return 0
	fi
	cp -p "$FILE" "$FILE.before"
	put "$FILE.new"
	if ! check; then
		put "$FILE.before"
		echo "nginx does not take the changed $FILE: it is as it was" >&2
		return 1
	fi
	rm -f "$FILE.before"
	reload
	echo "$SERVER is $1"
}

case $SEB_PHASE in
prepare)
	: > "$event"
	edit out
	sleep "$GRACE_SECONDS"
	;;
recover)
	rm -f "$event"
	# An event whose end nobody ever heard of must not keep the server out for good.
	find "$STATE" -name 'event-*' -mtime +7 -exec rm -f {} +
	if [ -n "$(find "$STATE" -name 'event-*')" ]; then
		echo "$SERVER stays out: another event is announced"
	else
		edit in
	fi
	;;
esac
