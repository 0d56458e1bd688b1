"""Which bytes a manifest keeps, writes anew, and doubts: as ranges of files."""
from verify_manifest import ranges_of, segments_of


def kept_runs(manifest, name):
    """[(from, to)] of input `name` that are adjacent in an output, too."""
    number = next((i for i, entry in enumerate(manifest["inputs"]) if entry["file"] == name), None)
    runs = []
    for output in manifest["outputs"]:
        last = None
        for segment in segments_of(output):
            if "bytes" in segment or segment["input"] != number or segment.get("why"):
                last = None
                continue
            start, end = segment["from"], segment["from"] + segment["length"]
            if last is not None and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
            last = end
    return sorted(runs)


def within(runs, start, end):
    return any(low <= start and end <= high for low, high in runs)


def literal_spans(manifest, name):
    spans = []
    for output in manifest["outputs"]:
        if output["file"] == name:
            spans += [(s["offset"], s["offset"] + s["length"]) for s in segments_of(output) if "bytes" in s or s.get("why")]
    return spans


def doubtful_spans(manifest, name):
    """Where the bytes of doubtful ranges are in output `name`."""
    spans = []
    doubts = list(ranges_of(manifest, "doubtful"))
    for output in manifest["outputs"]:
        if output["file"] != name:
            continue
        for segment in segments_of(output):
            if "bytes" in segment:
                continue
            for doubt in doubts:
                low = max(doubt["from"], segment["from"])
                high = min(doubt["from"] + doubt["length"], segment["from"] + segment["length"])
                if doubt["input"] == segment["input"] and low < high:
                    spans.append((low - segment["from"] + segment["offset"], high - segment["from"] + segment["offset"]))
    return spans
