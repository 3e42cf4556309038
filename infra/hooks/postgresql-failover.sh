#!/bin/sh
# Has another PostgreSQL server take over before an event, if the one on this VM is the primary.
# As a hook: command: [/usr/local/lib/seb-hooks/postgresql-failover.sh] with on: prepare. Nothing is to be done when the
# event is over: going back would be a second interruption.
set -eu

# How psql reaches the server on this VM: as libpq reads it (PGPASSFILE or peer for the password).
PGHOST=${PGHOST:-/var/run/postgresql}
PGUSER=${PGUSER:-scheduled-events-bridge}
PGDATABASE=${PGDATABASE:-postgres}
PGCONNECT_TIMEOUT=5
export PGHOST PGUSER PGDATABASE PGCONNECT_TIMEOUT
# Of Patroni; the first argument names another cluster.
CLUSTER=${1:-main}
MEMBER=$(uname -n)
PATRONI=/etc/patroni/patroni.yml

# What makes another one the primary. Without Patroni put the words of your tool here, such as:
#   pg_autoctl perform switchover --pgdata /var/lib/postgresql/data
take_over() { patronictl -c "$PATRONI" switchover "$CLUSTER" --leader "$MEMBER" --force; }

# `f` on the primary, `t` on a standby.
in_recovery() { psql -XAtqc 'SELECT pg_is_in_recovery()'; }

[ "$SEB_PHASE" = prepare ] || exit 0
# A server that does not answer ends the hook here, as failed: nobody knows what it is.
now=$(in_recovery)
if [ "$now" != f ]; then
	echo 'the server on this VM is not the primary'
	exit 0
fi
take_over
# A server that restarts as a standby answers nothing for a moment. The hook's own time ends the waiting.
until [ "$(in_recovery 2> /dev/null || true)" = t ]; do sleep 1; done
echo 'another server is the primary now'
