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
others() { node '.metadata.annotations.scheduled-events-bridge/cordoned-for' | tr ' ' '\n' | grep -vx "$event" | xargs; }

case $SEB_PHASE in
prepare)
	before=$(others)
	if [ "$(node .spec.unschedulable)" = true ] && [ -z "$before" ]; then
		echo "$NODE is cordoned already, by somebody else"
	else
		# First remembered, then done: what is cut short in between is only uncordoned once too often.
		kubectl annotate node "$NODE" --overwrite "$annotation=${before:+$before }$event"
		kubectl cordon "$NODE"
	fi
	# Not under the lock: a drain takes minutes.
	flock -u 9
	seconds=$((SEB_TIMEOUT_SECONDS - RESERVE_SECONDS))
	if [ "$seconds" -lt 1 ]; then seconds=1; fi
	kubectl drain "$NODE" --ignore-daemonsets --delete-emptydir-data --timeout="${seconds}s"
	;;
recover)
	if ! node '.metadata.annotations.scheduled-events-bridge/cordoned-for' | tr ' ' '\n' | grep -qx "$event"; then
		echo "$NODE was not cordoned by this hook"
		exit 0
	fi
	left=$(others)
	if [ -n "$left" ]; then
		kubectl annotate node "$NODE" --overwrite "$annotation=$left"
		echo "$NODE stays cordoned: another event is announced"
	else
		kubectl uncordon "$NODE"
		kubectl annotate node "$NODE" "$annotation-"
	fi
	;;
esac
