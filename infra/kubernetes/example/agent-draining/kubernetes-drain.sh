#!/bin/sh
# Cordons and drains this node before an event, and uncordons it when the event is over, if it was this hook that
# cordoned it. What it did it remembers in an annotation of the node, so that it is known after a redeploy, too.
# As a hook: command: [/usr/local/lib/seb-hooks/kubernetes-drain.sh], once with on: prepare, once with on: recover.
# It needs a kubeconfig that the agent's user may read, with leave to get and patch this node, to list pods and to
# evict them.
set -eu

# The name of this node; the first argument gives another one.
NODE=${1:-$(uname -n | tr '[:upper:]' '[:lower:]')}
KUBECONFIG=${KUBECONFIG:-/etc/scheduled-events-bridge/kubeconfig}
export KUBECONFIG
# Seconds that the hook keeps for itself; the rest of its time is for the drain.
RESERVE_SECONDS=5

annotation=scheduled-events-bridge/cordoned-for
event=$(printf %s "$SEB_EVENT_ID" | tr -c 'A-Za-z0-9-' '_')
# Hooks of several events may run at once.
exec 9> "${SEB_HOOK_STATE:-/var/lib/scheduled-events-bridge}/kubernetes-drain.lock"
flock 9

node() { kubectl get node "$NODE" -o "jsonpath={$1}"; }
# The events for which this hook keeps the node cordoned, one a line.
held() { node '.metadata.annotations.scheduled-events-bridge/cordoned-for'; }
without() { printf '%s\n' "$1" | tr ' ' '\n' | grep -vx "$event" | xargs; }
# A recover runs once, perhaps right after a boot: it goes on trying until its time is over.
insist() { until "$@"; do sleep "${RETRY_SECONDS:-5}"; done; }

case $SEB_PHASE in
prepare)
	now=$(held)
	unschedulable=$(node .spec.unschedulable)
	if [ "$unschedulable" = true ] && [ -z "$now" ]; then
		echo "$NODE is cordoned already, by somebody else"
	else
		others=$(without "$now")
		# First remembered, then done: what is cut short in between is only uncordoned once too often.
		kubectl annotate node "$NODE" --overwrite "$annotation=${others:+$others }$event"
		kubectl cordon "$NODE"
	fi
	# Not under the lock: a drain takes minutes.
	flock -u 9
	seconds=$((SEB_TIMEOUT_SECONDS - RESERVE_SECONDS))
	if [ "$seconds" -lt 1 ]; then seconds=1; fi
	kubectl drain "$NODE" --ignore-daemonsets --delete-emptydir-data --timeout="${seconds}s"
	;;
recover)
	insist held > /dev/null
	now=$(held)
	if ! printf '%s\n' "$now" | tr ' ' '\n' | grep -qx "$event"; then
		echo "$NODE was not cordoned by this hook"
		exit 0
	fi
	others=$(without "$now")
	if [ -n "$others" ]; then
		insist kubectl annotate node "$NODE" --overwrite "$annotation=$others"
		echo "$NODE stays cordoned: another event is announced"
	else
		insist kubectl uncordon "$NODE"
		insist kubectl annotate node "$NODE" "$annotation-"
	fi
	;;
esac
