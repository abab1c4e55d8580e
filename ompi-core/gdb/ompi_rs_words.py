"""What a debugger says of an MPI object: a function for each kind of handle, from the number to words."""

import gdb

from ompi_rs_objects import Absent, Objects

ANY_SOURCE, ANY_TAG, PROC_NULL = -1, -2, -3
# Of a posted receive from any source.
ANY = 0xFFFFFFFF

# MPI 5.0 §5.1.13, in the order of the standard ABI's numbers from 101 on.
COMBINERS = (
    "NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK STRUCT SUBARRAY DARRAY "
    "F90_REAL F90_COMPLEX F90_INTEGER RESIZED VALUE_INDEX"
).split()
FLAVORS = {311: "MPI_Win_create", 312: "MPI_Win_allocate", 313: "MPI_Win_create_dynamic", 314: "MPI_Win_allocate_shared"}
AMODES = ("APPEND", "CREATE", "DELETE_ON_CLOSE", "EXCL", "RDONLY", "RDWR", "SEQUENTIAL", "UNIQUE_OPEN", "WRONLY")


def named(text):
    return '"{}"'.format(text) if text else "without a name"


def rank_words(rank):
    return {ANY_SOURCE: "any rank", PROC_NULL: "MPI_PROC_NULL"}.get(rank, "rank {}".format(rank))


def tag_words(tag):
    return "any tag" if tag == ANY_TAG else "tag {}".format(tag)


def function_words(address):
    """A function of the program's, by its name if gdb knows it."""
    block = gdb.execute("info symbol {:#x}".format(address), to_string=True).strip()
    return "{:#x}".format(address) if block.startswith("No symbol") else block.split(" in section")[0]


def status_words(objects, address):
    memory = objects.memory
    source, tag, error = (memory.i32(address + 4 * at) for at in range(3))
    count = memory.u32(address + 12) | memory.u32(address + 16) << 32
    return "source {}, tag {}, {} bytes, error {}".format(source, tag, count, error)


# Communicators and what has one


def members(objects, group):
    """Of the address of a group: how many, and a function from rank to the rank in MPI_COMM_WORLD."""
    return objects.sequence(objects.arc(group + objects["group.members"]))


def comm_words(objects, comm):
    size, _ = members(objects, objects.arc(comm + objects["comm.group"]))
    words = "{}, rank {} of {}".format(
        named(objects.string(comm + objects["comm.name"])), objects.memory.u32(comm + objects["comm.rank"]), size
    )
    remote = objects.arc(comm + objects["comm.remote"])
    return words if not remote else "{}, to a group of {}".format(words, members(objects, remote)[0])


def predefined_comms(objects):
    places = (objects.memory.word(objects["comm.predefined"] + 8 * at) for at in range(2))
    return [place for place in places if place]


def comm_of_context(objects, context):
    """The name of the communicator with a context number, for behind `on`."""
    for comm in predefined_comms(objects) + list(objects.all("comm.table")):
        if objects.memory.u32(comm + objects["comm.context"]) == context:
            name = objects.string(comm + objects["comm.name"])
            return name if name.startswith("MPI_COMM_") else named(name) if name else "a communicator without a name"
    return "a communicator that is gone"


def comm(objects, handle):
    if handle in (0x101, 0x102):
        place = objects.memory.word(objects["comm.predefined"] + 8 * (handle - 0x101))
        if not place:
            raise Absent("MPI is not active")
        return comm_words(objects, place)
    return comm_words(objects, objects.find("comm.table", handle))


def group(objects, handle):
    if handle == 0x109:
        return "no processes"
    size, process = members(objects, objects.find("group.table", handle))
    shown = [str(process(rank)) for rank in range(min(size, 8))]
    words = "{} processes, of ranks {}{} in MPI_COMM_WORLD".format(size, ", ".join(shown), ", …" if size > 8 else "")
    worlds = predefined_comms(objects)
    own = objects.memory.u32(worlds[0] + objects["comm.rank"]) if worlds else None
    ranks = [rank for rank in range(min(size, 4096)) if process(rank) == own]
    return "{}, this one {}".format(words, "has rank {}".format(ranks[0]) if ranks else "is not among them")


def win(objects, handle):
    place = objects.find("win.table", handle)
    comm_place = objects.arc(place + objects["win.comm"])
    size, _ = members(objects, objects.arc(comm_place + objects["comm.group"]))
    memory = objects.memory
    flavor = memory.u32(place + objects["win.flavor"])
    return "{}, rank {} of {}, {} bytes in units of {}, by {}".format(
        named(objects.string(place + objects["win.name"])),
        memory.u32(comm_place + objects["comm.rank"]),
        size,
        memory.word(place + objects["win.size"]),
        memory.u32(place + objects["win.unit"]),
        FLAVORS.get(flavor, "flavor {}".format(flavor)),
    )


def file(objects, handle):
    place = objects.find("file.table", handle)
    path, length = objects.slice(place + objects["file.path"])
    bits = objects.memory.u32(place + objects["file.amode"])
    modes = [name for at, name in enumerate(AMODES) if bits & 1 << at]
    size, _ = members(objects, objects.arc(place + objects["file.group"]))
    name = objects.memory.text(path, max(length - 1, 0))
    return "{}, {}, of {} processes".format(named(name), "|".join(modes), size)


# Others


def datatype(objects, handle):
    if 0x200 <= handle < 0x400:
        place = objects.memory.word(objects["datatype.predefined"] + 8 * (handle - 0x200))
        if not place:
            raise Absent("no handle of this kind")
    else:
        place = objects.find("datatype.table", handle)
    memory = objects.memory
    name = objects.optional_string(place + objects["datatype.name"])
    if name is None:
        name = memory.text(*objects.slice(place + objects["datatype.own_name"]))
    combiner = memory.u32(place + objects["datatype.combiner"]) - 101
    made = COMBINERS[combiner] if combiner < len(COMBINERS) else str(combiner)
    layout = objects.arc(place + objects["datatype.layout"])
    extent = memory.word(layout + objects["layout.extent"])
    return "{}, MPI_COMBINER_{}, {} bytes, extent {}, {}".format(
        named(name),
        made,
        memory.word(layout + objects["layout.size"]),
        extent - (1 << 64) if extent >> 63 else extent,
        "committed" if memory.u8(place + objects["datatype.committed"]) else "not committed",
    )


def op(objects, handle):
    place = objects.find("op.table", handle)
    memory = objects.memory
    which = memory.u32(place)
    if not which:
        return "a predefined one"
    commutes = memory.u8(place + (24 if which == 3 else 16))
    return "{}, {}commutative".format(function_words(memory.word(place + 8)), "" if commutes else "not ")


def errhandler(objects, handle):
    place = objects.find("errhandler.table", handle)
    memory = objects.memory
    kind = memory.u8(place + objects["errhandler.kind"])
    of = ("communicators", "windows", "files", "sessions")[kind % 4]
    freed = "" if memory.word(place + objects["errhandler.handles"]) else ", freed, and in use still"
    return "{}, of {}{}".format(function_words(memory.word(place + objects["errhandler.function"])), of, freed)


def info(objects, handle):
    pairs = objects.elements(objects.find("info.table", handle) + objects["mutex.value"], objects["info.pair"])
    texts = (
        '{}="{}"'.format(
            objects.string(pair + objects["info.pair.key"]), objects.string(pair + objects["info.pair.value"])
        )
        for pair in pairs
    )
    return ", ".join(texts) or "no keys"


def session(objects, handle):
    objects.find("session.table", handle)
    return "in use"


def message(objects, handle):
    """What a matched probe took: index and serial number as `State::put_matched` makes them."""
    number, serial = (handle & (1 << 22) - 1) - 1024, handle >> 22
    table = objects["state"] + objects["state.matched"]
    entries = objects.elements(table + objects["matched.entries"], objects["matched.entry"])
    if not 0 <= number < len(entries) or handle >> 31:
        raise Absent("no handle of this kind")
    entry = entries[number]
    value = entry + objects["matched.value"]
    if objects.memory.u32(entry) or objects.memory.u32(value + objects["matched.serial"]) != serial:
        raise Absent("received, or no handle of this kind")
    context = objects.memory.u32(value + objects["matched.context"])
    status = status_words(objects, value + objects["matched.status"])
    return "{}, on {}, not received yet".format(status, comm_of_context(objects, context))


# Requests

STATES = ("free", "active", "complete", "inactive")
PERSISTENT, DETACHED, QUERIED, COLLECTIVE, PARTITIONED, ONE_SIDED = 4, 8, 32, 64, 256, 512


def context_of(bits):
    """Of context bits: the number, and whether a collective operation's."""
    return bits >> 1 & (1 << 22) - 1, bool(bits & 1)


def posted_words(objects, token, handle):
    """What a posted receive waits for; `None` if it is posted no more."""
    memory = objects.memory
    context, collective = context_of(token & 0xFFFFFFFF)
    contexts = objects.elements(objects["state"] + objects["state.contexts"], 8)
    place = memory.word(contexts[context]) if context < len(contexts) else 0
    if not place:
        return None
    matcher = place + objects["context.matchers"] + objects["context.matcher"] * collective
    posted = objects.elements(matcher + objects["matcher.posted"], objects["posted"])
    if token >> 32 >= len(posted):
        return None
    entry = posted[token >> 32]
    request = memory.u32(entry + objects["posted.receive"] + objects["receive.request"])
    if not memory.word(entry + objects["posted.order"]) or request != handle:
        return None
    source, tag = memory.u32(entry + objects["posted.source"]), memory.i32(entry + objects["posted.tag"])
    return "receives from {} with {} on {}, nothing has come".format(
        rank_words(ANY_SOURCE if source == ANY else source),
        tag_words(ANY_TAG if tag == -1 else tag),
        comm_of_context(objects, context),
    )


def operation_words(objects):
    """How far long messages are, and synchronous ones: the request of each, and words."""
    memory = objects.memory
    table = objects["state"] + objects["operations.entries"] + objects["state.operations"]
    for entry in objects.elements(table, objects["operation.entry"]):
        if memory.u32(entry):
            continue
        place = entry + objects["operation.value"]
        request_of = memory.u32(place + objects["operation.request"])
        process = memory.u32(place + objects["operation.process"])
        envelope = memory.word(place + objects["operation.envelope"])
        state = memory.u32(place + objects["operation.state"])
        if state > 3:
            yield request_of, "receives the rest of a message from rank {} of the job on {}".format(
                process, comm_of_context(objects, context_of(envelope)[0])
            )
            continue
        far = ("waits for room", "not received yet", "announced, not received yet", "on its way in fragments")[state]
        tag = tag_words(envelope >> 23 & 0x7FFFFFFF)
        yield request_of, "sends to rank {} of the job with {}, {}".format(process, tag, far)


def persistent_words(objects, token, state):
    try:
        place = objects.find("persistent.table", token)
    except Absent:
        return "a persistent request, {}".format(state)
    memory = objects.memory
    direction = memory.u8(place + objects["persistent.direction"])
    verb = ("sends to", "sends by a buffer to", "receives from")[direction % 3]
    handle = memory.word(place + objects["persistent.comm"])
    on = {0x101: "MPI_COMM_WORLD", 0x102: "MPI_COMM_SELF"}.get(handle, "MPI_Comm {:#x}".format(handle))
    return "{}, persistent: {} {} with {} on {}".format(
        state,
        verb,
        rank_words(memory.i32(place + objects["persistent.peer"])),
        tag_words(memory.i32(place + objects["persistent.tag"])),
        on,
    )


def request(objects, handle):
    memory = objects.memory
    index = handle & (1 << 22) - 1
    if handle == objects["request.done"]:
        return "complete"
    chunk = memory.word(objects["request.chunks"] + 8 * (index // objects["request.chunk"])) if handle >> 31 == 0 else 0
    if not chunk:
        raise Absent("no handle of this kind")
    slot = chunk + index % objects["request.chunk"] * 64
    word = memory.u32(slot)
    generation = word >> 16 & 0x1FF
    if generation != handle >> 22 or not word & 3:
        # Slots are used again by their next generation.
        raise Absent("complete and taken, or freed" if generation > handle >> 22 else "no handle of this kind")
    state = STATES[word & 3]
    freed = "freed by the program, " if word & DETACHED else ""
    token = memory.word(slot + objects["request.slot.token"])
    if word & 3 == 2:
        return "{}complete: {}".format(freed, status_words(objects, slot + objects["request.slot.status"]))
    if word & PARTITIONED:
        return "{}{}, partitioned".format(freed, state)
    if word & COLLECTIVE:
        return "{}{}, a{} collective operation".format(freed, state, " persistent" if word & PERSISTENT else "")
    if word & PERSISTENT:
        return freed + persistent_words(objects, token, state)
    if word & ONE_SIDED:
        return "{}{}, one-sided".format(freed, state)
    if word & QUERIED:
        return "{}{}, of a file, generalized, or of the library".format(freed, state)
    words = posted_words(objects, token, handle) or dict(operation_words(objects)).get(handle)
    return freed + (words or "active, as a send is whose message has not left")


KINDS = {
    "Comm": comm, "Group": group, "Request": request, "Message": message, "Datatype": datatype, "Op": op,
    "Errhandler": errhandler, "Info": info, "Session": session, "Win": win, "File": file,
}


def words(kind, handle):
    """What is known of a handle of the program's."""
    try:
        return KINDS[kind](Objects(), handle)
    except Absent as why:
        return str(why)
