#!/bin/sh
# Has a replica take over before an event, if the Redis on this VM is the master of its Sentinels.
# As a hook: command: [/usr/local/lib/seb-hooks/redis-failover.sh] with on: prepare. Nothing is to be done when the
# event is over: Sentinel makes what comes back a replica.
set -eu

# The Redis on this VM, and a Sentinel.
REDIS_HOST=${REDIS_HOST:-127.0.0.1}
REDIS_PORT=${REDIS_PORT:-6379}
SENTINEL_HOST=${SENTINEL_HOST:-127.0.0.1}
SENTINEL_PORT=${SENTINEL_PORT:-26379}
# What the Sentinels call the master; the first argument gives another name.
MASTER=${1:-mymaster}
# Where a password is asked for: a file that only the agent's user may read, with REDISCLI_AUTH=… in it.
AUTH_FILE=${AUTH_FILE:-/etc/scheduled-events-bridge/redis.env}
if [ -r "$AUTH_FILE" ]; then
	# shellcheck source=/dev/null
	. "$AUTH_FILE"
	export REDISCLI_AUTH
fi

role() { redis-cli -h "$REDIS_HOST" -p "$REDIS_PORT" ROLE | head -n 1; }

[ "$SEB_PHASE" = prepare ] || exit 0
now=$(role)
if [ "$now" != master ]; then
	echo "the Redis on this VM is no master: ${now:-no answer}"
	# Without an answer nobody knows.
	[ -n "$now" ]
	exit
fi
# redis-cli ends with 0 also when the answer is an error.
answer=$(redis-cli -h "$SENTINEL_HOST" -p "$SENTINEL_PORT" SENTINEL FAILOVER "$MASTER")
if [ "$answer" != OK ]; then
	echo "the Sentinel says: $answer" >&2
	exit 1
fi
# The hook's own time ends the waiting.
while [ "$(role)" = master ]; do sleep 1; done
echo 'a replica is the master now'
