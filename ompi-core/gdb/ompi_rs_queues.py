"""The message queues of a process: receives that are posted, messages that no receive has met, sends that are not through."""

from ompi_rs_objects import LONGEST, Absent, Objects
from ompi_rs_words import ANY, ANY_SOURCE, ANY_TAG, comm_of_context, operation_words, rank_words, tag_words


def posted(objects, matcher):
    """In the order of posting."""
    memory = objects.memory
    found = []
    for entry in objects.elements(matcher + objects["matcher.posted"], objects["posted"]):
        order = memory.word(entry + objects["posted.order"])
        if not order:
            continue
        source, tag = memory.u32(entry + objects["posted.source"]), memory.i32(entry + objects["posted.tag"])
        buffer = entry + objects["posted.receive"] + objects["receive.buffer"]
        line = "posted: from {} with {}, at most {} bytes to {:#x}".format(
            rank_words(ANY_SOURCE if source == ANY else source),
            tag_words(ANY_TAG if tag == -1 else tag),
            memory.word(buffer + objects["buffer.bytes"]),
            memory.word(buffer + objects["buffer.address"]),
        )
        found.append((order, line))
    return [line for _, line in sorted(found)]


def unexpected(objects, matcher):
    """In the order of arrival."""
    memory = objects.memory
    table = matcher + objects["matcher.unexpected"] + objects["unexpected.entries"]
    entries = objects.elements(table, objects["unexpected.entry"])
    number = memory.u32(matcher + objects["matcher.arrivals"] + objects["list.first_plus"]) - 1
    for _ in range(LONGEST):
        if not 0 <= number < len(entries):
            return
        place = entries[number] + objects["unexpected.value"]
        process = memory.u32(place + objects["unexpected.message"] + objects["message.process"])
        source, tag = memory.u32(place + objects["unexpected.source"]), memory.i32(place + objects["unexpected.tag"])
        job = "" if process == source else " (rank {} of the job)".format(process)
        yield "unexpected: from {}{} with {}".format(rank_words(source), job, tag_words(tag))
        number = memory.u32(place + objects["unexpected.next_arrival"])


def lines():
    """What the command prints."""
    try:
        objects = Objects()
        state = objects["state"]
        for context, at in enumerate(objects.elements(state + objects["state.contexts"], 8)):
            place = objects.memory.word(at)
            for collective in (0, 1) if place else ():
                matcher = place + objects["context.matchers"] + objects["context.matcher"] * collective
                found = posted(objects, matcher) + list(unexpected(objects, matcher))
                if found:
                    of = ", in collective operations" if collective else ""
                    yield "on {}{}:".format(comm_of_context(objects, context), of)
                    yield from ("  " + line for line in found)
        under_way = list(operation_words(objects))
        if under_way:
            yield "long and synchronous messages:"
            yield from ("  " + line for _, line in under_way)
    except Absent as why:
        yield "mpi-queues: {}".format(why)
