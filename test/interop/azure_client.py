"""Sends to and receives from the emulator with Microsoft's Python SDK and the AMQP stack of its own."""

import json
import sys
import threading

import azure.eventhub
from azure.eventhub import EventData, EventHubConsumerClient, EventHubProducerClient

EVENTS = 1000
DEADLINE_S = 60


def send(producer):
    """Sends EVENTS events, with keys, in batches; returns the sizes of the batches."""
    sizes = []
    for start in range(0, EVENTS, 250):
        batch = producer.create_batch(partition_key="key %d" % start)
        for number in range(start, start + 250):
            event = EventData(json.dumps({"number": number}))
            event.properties = {"text": "grün", "number": number, "flag": True}
            event.message_id = "id-%d" % number
            event.correlation_id = "all"
            event.content_type = "application/json"
            batch.add(event)
        producer.send_batch(batch)
        sizes.append(batch.size_in_bytes)
    return sizes


def receive(consumer):
    """Reads every partition from its beginning until all events are there; returns them."""
    events = []
    done = threading.Event()

    def on_batch(context, received):
        events.extend((context.partition_id, event) for event in received)
        if len(events) >= EVENTS:
            done.set()

    def on_error(_context, error):
        print("error while receiving: %r" % error, file=sys.stderr)

    thread = threading.Thread(
        target=consumer.receive_batch,
        kwargs={
            "on_event_batch": on_batch,
            "on_error": on_error,
            "starting_position": "-1",
            "max_wait_time": 1,
            "max_batch_size": 300,
            "track_last_enqueued_event_properties": True,
        },
        daemon=True,
    )
    thread.start()
    done.wait(DEADLINE_S)
    consumer.close()
    thread.join(10)
    return events


def check(events):
    """Compares what came with what was sent."""
    assert len(events) == EVENTS, "%d events" % len(events)
    by_partition = {}
    for partition, event in events:
        number = json.loads(event.body_as_str())["number"]
        properties = {
            key.decode() if isinstance(key, bytes) else key: value.decode() if isinstance(value, bytes) else value
            for key, value in event.properties.items()
        }
        assert properties == {"text": "grün", "number": number, "flag": True}, properties
        assert event.message_id == "id-%d" % number
        assert event.correlation_id == "all"
        assert event.content_type == "application/json"
        assert event.partition_key == b"key %d" % (number - number % 250), event.partition_key
        assert isinstance(event.offset, str)
        assert event.enqueued_time is not None
        by_partition.setdefault(partition, []).append(event.sequence_number)
    for numbers in by_partition.values():
        assert numbers == list(range(len(numbers))), numbers[:10]
    return {partition: len(numbers) for partition, numbers in sorted(by_partition.items())}


def main(connection_string, hub, authority):
    options = {"eventhub_name": hub, "connection_verify": authority}
    report = {"client": "azure-eventhub %s (Python)" % azure.eventhub.__version__}
    with EventHubProducerClient.from_connection_string(connection_string, **options) as producer:
        report["batch bytes"] = send(producer)
        properties = producer.get_eventhub_properties()
        report["partitions"] = properties["partition_ids"]
        last = {
            partition: producer.get_partition_properties(partition)["last_enqueued_sequence_number"]
            for partition in properties["partition_ids"]
        }
    consumer = EventHubConsumerClient.from_connection_string(
        connection_string, consumer_group="$Default", **options
    )
    report["received per partition"] = check(receive(consumer))
    assert sum(number + 1 for number in last.values()) == EVENTS, last
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
