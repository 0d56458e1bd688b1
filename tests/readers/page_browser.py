#!/usr/bin/env python3
"""The HTML report in a browser: Debian's chromium, driven by selenium; axe-core comes from npm into build/axe.

    page_browser.py [--tool PATH] [--formats NAME...] [--findings N...] [--large BYTES] [--pictures DIR]

A page for each format, for a check and for a repair, with one, about a hundred and 100,000 findings, at three widths, light and dark:
nothing in the console, nothing wider than the window, no violation that axe-core knows, everything reachable by keyboard, a finding
leads to its bytes and back. Hostile names and texts stay texts. With --large, a capture of that size with 10,000 damaged places: the
page is below 3 MB. Prints "skip" and exits 77 without chromium.
"""
import argparse
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
WIDTHS = (360, 800, 1600)
PAGE_MAX = 3 << 20
MEMORY_MAX = 64 << 20
TABS = 64   # keys in one message to the browser
AXE = "axe-core@4.14.1"

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skip: there is no selenium for python3 (scripts/install.sh --browser)")
    sys.exit(77)


def axe():
    """The source of axe-core, None where npm cannot fetch it."""
    folder = os.path.join(ROOT, "build", "axe")
    script = os.path.join(folder, "package", "axe.min.js")
    if not os.path.exists(script):
        os.makedirs(folder, exist_ok=True)
        fetched = subprocess.run(["npm", "pack", "--loglevel=error", AXE], cwd=folder, timeout=180, check=False, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL) if shutil.which("npm") else None
        for archive in glob.glob(os.path.join(folder, "*.tgz")) if fetched else ():
            subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    if not os.path.exists(script):
        return None
    with open(script, encoding="utf-8") as f:
        return f.read()


# ---- captures ----

def generate(tool, name, folder, *more):
    """The last capture that gen makes."""
    subprocess.run([tool, "gen", "-q", "-f", name, "-o", folder, *more], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as f:
        return os.path.join(folder, json.loads(f.readlines()[-1])["file"])


def hit(path, places, seed):
    """Eight bytes of noise at so many places; of a directory, in its files by their sizes."""
    files = [path] if os.path.isfile(path) else [os.path.join(at, f) for at, _, some in os.walk(path) for f in some]
    sizes = {f: os.path.getsize(f) for f in files}
    draw = random.Random(seed)
    for f, size in sizes.items():
        with open(f, "r+b") as out:
            for _ in range(places * size // max(sum(sizes.values()), 1)):
                out.seek(draw.randrange(min(256, size // 2), size))
                out.write(draw.randbytes(8))


def findings(tool, paths):
    run = subprocess.run([tool, "check", "--format=json", "--max-findings=1", *paths], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return sum(one[k] for one in json.loads(run.stdout)["inputs"] for k in ("errors", "warnings", "notes"))


def damaged(tool, name, wanted, folder):
    """Captures with so many findings or more: one, and as many more of its kind as it takes, since what has one cause is one finding."""
    if wanted == 1:
        return [generate(tool, name, folder, "--rule", RULES[name])]
    size = 64 << 10 if wanted <= 1000 or name == "ktrace" else 16 << 20
    path = generate(tool, name, folder, "--size", str(size))
    hit(path, min(size // 256, 2 * wanted), 1)
    paths = [path]
    for i in range(1, -(-wanted // max(findings(tool, paths), 1))):
        paths.append(os.path.join(folder, f"{i}-" + os.path.basename(path)))
        subprocess.run(["cp", "-al", path, paths[-1]], check=True)
    return paths


RULES = {"fxt": "dangling-string-ref", "ktrace": "chunk-size-overflow", "lttng": "dangling-event-id", "tracedat": "record-past-commit",
         "uftrace": "dat-bad-magic"}


# ---- pages ----

class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for o in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(o)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.d = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.d.set_page_load_timeout(60)
        self.d.set_script_timeout(600)

    def look(self, path, width, dark):
        self.d.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.d.get("file://" + os.path.abspath(path))

    def console(self):
        return [m["message"] for m in self.d.get_log("browser")]


def keyboard(d):
    """What the tabulator key does not reach of what can be used."""
    wanted = d.execute_script("""
        window.seen = new Set();
        document.addEventListener('focusin', (e) => window.seen.add(e.target));
        return [...document.querySelectorAll('button, summary, a[href], [tabindex="0"]')].filter((e) => e.checkVisibility()).length;""")
    body = d.find_element(By.TAG_NAME, "body")
    for _ in range(0, wanted + 2, TABS):
        body.send_keys(Keys.TAB * TABS)
        body = d.switch_to.active_element
    return d.execute_script("""
        return [...document.querySelectorAll('button, summary, a[href], [tabindex="0"]')]
            .filter((e) => e.checkVisibility() && !window.seen.has(e)).map((e) => e.outerHTML.slice(0, 90));""")


def problems(b, path, width, dark, kind, script, thorough):
    """What is wrong with a page."""
    d, found = b.d, []
    b.look(path, width, dark)
    wide = d.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    if wide > 0:
        found.append(f"{wide} pixels wider than the window")
    if kind == "check":
        # From a finding to the map, and from there to the list.
        shows = d.find_elements(By.CSS_SELECTOR, ".finding .show")
        for show in shows[:1] + shows[-1:]:
            d.execute_script("arguments[0].closest('details').open = true; arguments[0].click()", show)
            at = d.execute_script("return arguments[0].closest('details').querySelector('.at').textContent", show)
            capture = show.find_element(By.XPATH, "ancestor::section[@class='capture']")
            if not capture.find_elements(By.CSS_SELECTOR, ".map .bytes pre"):
                found.append(f"no bytes on the map for the finding at {at}")
            back = capture.find_elements(By.CSS_SELECTOR, ".map .say button")
            if back:
                back[0].click()
            if not back or not d.execute_script("return arguments[0].closest('details').classList.contains('target')", show):
                found.append(f"no way back to the finding at {at}")
        if not shows:
            found.append("no finding leads to the map")
        # A click on the map: a mark in its middle.
        if shows:
            d.execute_script("arguments[0].click()", shows[0])
            part = d.find_element(By.CSS_SELECTOR, "canvas.part")
            d.execute_script("document.querySelector('.map .bytes').textContent = ''")
            box = d.execute_script("const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", part)
            for x in range(0, int(box[2]), 4):
                d.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {clientX: arguments[1], clientY: arguments[2]}))",
                                 part, box[0] + x, box[1] + 4)
                if d.find_elements(By.CSS_SELECTOR, ".map .bytes pre"):
                    break
            else:
                found.append("a click on the map shows no bytes")
    if thorough:
        found += [f"not reached by keyboard: {e}" for e in keyboard(d)[:5]]
        drawn = d.execute_script("""
            return [...document.querySelectorAll('canvas')].filter((c) => c.checkVisibility() && c.getBoundingClientRect().width >= 1)
                .filter((c) => !c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x)).length""")
        if drawn:
            found.append(f"{drawn} of the maps are empty")
    if script:
        d.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
        for v in d.execute_async_script("axe.run(document).then((r) => arguments[0](r.violations))"):
            found.append(f"axe: {v['id']}: {v['help']}: {v['nodes'][0]['html'][:120]}")
    found += [f"console: {m}" for m in b.console()]
    return found


# Each canvas as [class, its lightness from 0 to 1, how many colours]; only what is drawn.
CANVASES = """
    return [...document.querySelectorAll('canvas')].filter((c) => c.checkVisibility() && c.width && c.height).map((c) => {
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
        let sum = 0, count = 0;
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 200) {
                sum += data[i] * .2126 + data[i + 1] * .7152 + data[i + 2] * .0722;
                count++;
                seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
            }
        return [c.className, count ? sum / count / 255 : 1, seen.size];
    });"""


def printed(b, path):
    """On paper: light also for who reads in the dark, with the patterns of the map, and nothing that is wider than the sheet."""
    d, found = b.d, []
    for width in (360, 800):
        b.look(path, width, False)
        screen = d.execute_script(CANVASES)
        b.look(path, width, True)
        d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        d.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        paper = d.execute_script("return getComputedStyle(document.body).backgroundColor")
        if paper != "rgb(255, 255, 255)":
            found.append(f"printed, {width} px: the paper is {paper}")
        wide = d.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        if wide > 0:
            found.append(f"printed, {width} px: {wide} pixels wider than the sheet")
        light = d.execute_script(CANVASES)
        if len(light) != len(screen) or not light:
            found.append(f"printed, {width} px: {len(light)} maps of {len(screen)}")
        if not any(name in ("whole", "part") and colours > 1 for name, _, colours in light):
            found.append(f"printed, {width} px: no map has a pattern")
        for (name, before, _), (_, after, _) in zip(screen, light):
            if abs(after - before) > .03:
                found.append(f"printed, {width} px: {name} has a lightness of {after:.2f} (on the light screen {before:.2f})")
        cut = d.execute_script("""
            return [...document.querySelectorAll('pre')].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).length""")
        if cut:
            found.append(f"printed, {width} px: {cut} blocks of text are cut")
    d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    b.console()  # that reading pixels is slow
    return found


def write_page(tool, kind, captures, page):
    """Of all captures, or of the repair of the first. Returns the bytes of the page and the memory of the process."""
    with open(page, "wb") as out:
        command = [tool, "check", "--format=html", *captures] if kind == "check" else [
            tool, "repair", "-q", "--report", page, "-o", page + ".out", captures[0]]
        with subprocess.Popen(command, stdout=out if kind == "check" else subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            used = os.wait4(child.pid, 0)[2].ru_maxrss * 1024
    for path in (page + ".out",):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    return os.path.getsize(page), used


HOSTILE = "<img src=x onerror=window.hit=1>&\"'</script><script>window.hit=1</script>"


def hostile(b, tool, folder, script):
    """Names and texts of a capture that would be markup."""
    found = []
    path = generate(tool, "fxt", os.path.join(folder, "made"), "--rule", "embedded-nul")
    with open(path, "rb") as f:
        data = f.read()
    text = HOSTILE[:31].encode() + b"\0"
    header = (2 | 5 << 4 | 0x321 << 16 | 32 << 32).to_bytes(8, "little")
    at = data.find(b"\x10\x00\x04\x46\x78\x54\x16\x00") + 8
    name = os.path.join(folder, HOSTILE.replace("/", "%") + ".fxt")
    with open(name, "wb") as f:
        f.write(data[:at] + header + text + data[at:])
    for kind in ("check", "repair"):
        page = os.path.join(folder, f"hostile-{kind}.html")
        write_page(tool, kind, [name], page)
        found += [f"hostile {kind}: {p}" for p in problems(b, page, 800, False, "", script, False)]
        if b.d.execute_script("return window.hit || document.querySelectorAll('img, iframe, object, [onerror]').length"):
            found.append(f"hostile {kind}: a text became markup")
        if HOSTILE[:20] not in b.d.find_element(By.TAG_NAME, "h2").text:
            found.append(f"hostile {kind}: the name is not shown")
        b.d.execute_script("const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s)")
        if b.d.execute_script("return window.hit"):
            found.append(f"hostile {kind}: a script that is not the page's own runs")
        b.console()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "tracemend"))
    parser.add_argument("--formats", nargs="*", default=sorted(RULES))
    parser.add_argument("--findings", nargs="*", type=int, default=[1, 100, 100000])
    parser.add_argument("--large", type=int, default=0, help="bytes")
    parser.add_argument("--pictures", help="a folder for what the pages look like")
    options = parser.parse_args()
    if not os.path.exists("/usr/bin/chromedriver"):
        print("skip: there is no chromedriver (scripts/install.sh --browser)")
        return 77
    tool, script = os.path.realpath(options.tool), axe()
    passed = failed = 0

    def count(what, found):
        nonlocal passed, failed
        passed += not found
        failed += bool(found)
        for line in found:
            print(f"{what}: {line}", flush=True)

    b = Browser()
    with tempfile.TemporaryDirectory(prefix="tracemend-page-") as work:
        for name in options.formats:
            for wanted in options.findings:
                folder = os.path.join(work, f"{name}-{wanted}")
                captures = damaged(tool, name, wanted, folder)
                has = findings(tool, captures)
                count(f"{name} {wanted}", [] if has >= wanted else [f"there are {has} findings only"])
                for kind in ("check", "repair"):
                    page = os.path.join(work, f"{name}-{wanted}-{kind}.html")
                    size, _ = write_page(tool, kind, captures, page)
                    count(f"{name} {wanted} {kind}", [] if 0 < size < PAGE_MAX else [f"the page has {size} bytes"])
                    for width in WIDTHS:
                        for dark in (False, True):
                            thorough = wanted <= 100 and width == 800 and not dark
                            what = f"{name}, {has} findings in {len(captures)}, {kind}, {width} px, {'dark' if dark else 'light'}"
                            # On a page of thousands of parts axe-core takes minutes: a narrow light one, a wide dark one.
                            asked = script if wanted <= 1000 or (width, dark) in ((WIDTHS[0], False), (WIDTHS[-1], True)) else None
                            count(what, problems(b, page, width, dark, kind, asked, thorough))
                            if thorough:
                                count(f"{what}, printed", printed(b, page))
                            if options.pictures:
                                os.makedirs(options.pictures, exist_ok=True)
                                b.d.execute_script("window.scrollTo(0, 0)")
                                b.d.save_screenshot(os.path.join(options.pictures, f"{name}-{wanted}-{kind}-{width}-{'dark' if dark else 'light'}.png"))
        count("hostile", hostile(b, tool, work, script))
        if options.large:
            capture = generate(tool, "fxt", os.path.join(work, "large"), "--size", str(options.large))
            hit(capture, 10000, 1)
            for kind in ("check", "repair"):
                page = os.path.join(work, f"large-{kind}.html")
                size, used = write_page(tool, kind, [capture], page)
                print(f"{kind} of {os.path.getsize(capture)} bytes: a page of {size} bytes, {used >> 20} MB of memory", flush=True)
                count(f"large {kind}", ([f"the page has {size} bytes"] if size >= PAGE_MAX else []) +
                      ([f"{used} bytes of memory"] if used >= MEMORY_MAX else []) + problems(b, page, 800, False, kind, script, False))
    b.d.quit()
    print(f"pages: {passed} passed, {failed} failed{'' if script else ' (axe-core could not be fetched)'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
