"""trace.dat for tests/tools/crosscheck.py: what tracedat_events.py reads. Latency output begins with a heading, which is not counted."""
import tracedat_events


def is_record(meaning, kind):
    return kind not in tracedat_events.REGISTRATIONS and not (kind == "line" and meaning[2].startswith(b"#"))


def count(files):
    return sum(is_record(meaning, kind) for _, _, meaning, _, kind in tracedat_events.read(files).events)


def whole(files):
    # An option of an unknown kind may be sound or damaged; a sound capture may have one.
    return all(what == tracedat_events.UNKNOWN_OPTION for _, _, _, what in tracedat_events.read(files).problems)
