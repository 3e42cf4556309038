"""Talks bare AMQP to the emulator with Apache Qpid Proton, and looks at the types on the wire."""

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.parse

import proton
from proton import Described, Message, symbol, ulong
from proton.reactor import Filter
from proton.utils import BlockingConnection, LinkDetached

EVENTS = 500
DEADLINE_S = 30
SELECTOR = 0x468C00000004


def sign(audience, name, key):
    """Makes a shared access signature that lives for an hour."""
    resource = urllib.parse.quote_plus(audience)
    expiry = str(int(time.time()) + 3600)
    digest = hmac.new(key.encode(), (resource + "\n" + expiry).encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(digest))
    return "SharedAccessSignature sr=%s&sig=%s&se=%s&skn=%s" % (resource, signature, expiry, name)


def ask(connection, node, properties, body=None):
    """Sends a request to a node; both links carry the name that Proton gives them, which is the same."""
    sender = connection.create_sender(node)
    receiver = connection.create_receiver(node, credit=1)
    sender.send(Message(id="request", properties=properties, body=body))
    answer = receiver.receive(timeout=DEADLINE_S)
    receiver.accept()
    names = (sender.link.name, receiver.link.name)
    sender.close()
    receiver.close()
    return answer, names


class Position(Filter):
    """A start position, as the service spells it."""

    def __init__(self, text):
        super().__init__({symbol("apache.org:selector-filter:string"): Described(ulong(SELECTOR), text)})


def read(connection, hub, partition, position, count):
    address = "%s/ConsumerGroups/$Default/Partitions/%s" % (hub, partition)
    receiver = connection.create_receiver(address, credit=200, options=Position(position))
    messages = []
    while len(messages) < count:
        # Deliveries come settled: there is nothing to accept.
        messages.append(receiver.receive(timeout=DEADLINE_S))
    receiver.close()
    return messages


def annotation_types(message):
    return {str(key): type(value).__name__ for key, value in message.annotations.items()}


def main(url, hub, name, key):
    report = {"client": "qpid-proton %d.%d.%d (C)" % proton.VERSION}
    connection = BlockingConnection(url, timeout=DEADLINE_S, allowed_mechs="ANONYMOUS")
    try:
        connection.create_sender(hub)
        raise AssertionError("a link without a token was let in")
    except LinkDetached as refusal:
        report["without token"] = refusal.condition
    audience = "sb://localhost/%s" % hub
    put = {"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": audience}
    answer, names = ask(connection, "$cbs", put, sign(audience, name, key))
    assert answer.properties["status-code"] == 202, answer
    report["both links named"] = names[0] == names[1]
    sender = connection.create_sender("%s/Partitions/1" % hub)
    for number in range(EVENTS):
        sender.send(Message(body=json.dumps({"number": number}).encode(), inferred=True, properties={"n": number}))
    sender.close()
    question = {"operation": "READ", "type": "com.microsoft:partition", "name": hub, "partition": "1"}
    answer, _ = ask(connection, "$management", question)
    assert answer.properties["status-code"] == 200, answer
    assert answer.body["last_enqueued_sequence_number"] == EVENTS - 1, answer.body
    report["partition types"] = {str(key): type(value).__name__ for key, value in answer.body.items()}
    messages = read(connection, hub, "1", "amqp.annotation.x-opt-offset > '-1'", EVENTS)
    assert [json.loads(bytes(message.body))["number"] for message in messages] == list(range(EVENTS))
    tail = read(connection, hub, "1", "amqp.annotation.x-opt-sequence-number >= '490'", 10)
    assert [message.annotations["x-opt-sequence-number"] for message in tail] == list(range(490, 500))
    report["annotation types"] = annotation_types(messages[0])
    report["received"] = len(messages)
    connection.close()
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
