#!/usr/bin/env python3
"""Makes the sample repository, public/sample, with the real client (BORG, or else `borg`), and the list of its files.

It is made anew only by hand: what is committed is what the page and its tests open.
"""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

PASSPHRASE = "sample"
HOME = Path("/home/mira")
TARGET = Path(__file__).resolve().parent.parent / "public" / "sample"
BORG = os.environ.get("BORG", "borg")


def main():
    if HOME.exists():
        sys.exit(f"{HOME} is in the way")
    shutil.rmtree(TARGET, ignore_errors=True)
    base = tempfile.mkdtemp()
    env = dict(os.environ, BORG_BASE_DIR=base, BORG_REPO=str(TARGET), BORG_PASSPHRASE=PASSPHRASE, BORG_USERNAME="mira")
    borg(env, "repo-create", "-e", "chacha20-poly1305", "-i", "blake3")
    try:
        HOME.mkdir(parents=True)
        for number, (name, host, when, paths, change, more) in enumerate(ARCHIVES):
            change()
            create = ["create", "-C", "zstd,19", "--numeric-ids", "--noctime", "--timestamp", when, *more, name, *paths]
            borg(dict(env, BORG_HOSTNAME=host), *create)
        borg(env, "delete", "-a", "before-the-move")
    finally:
        shutil.rmtree(HOME)
        shutil.rmtree(base)
    # What only a client that writes needs, and folders that are empty.
    for folder in ("cache", "locks"):
        shutil.rmtree(TARGET / folder, ignore_errors=True)
    files = sorted(path for path in TARGET.rglob("*") if path.is_file())
    listing = [[str(path.relative_to(TARGET)), path.stat().st_size] for path in files]
    (TARGET / "portaborg-listing.json").write_text(json.dumps({"files": listing}, indent=0) + "\n")
    print(len(files), "files,", sum(size for _, size in listing), "bytes")


def borg(env, *args):
    subprocess.run([BORG, *args], cwd=HOME if HOME.exists() else "/", env=env, check=True)


def put(path, content, when="2025-01-10T09:30:00"):
    file = HOME / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    seconds = subprocess.run(["date", "-u", "-d", when, "+%s"], capture_output=True, text=True, check=True).stdout
    for path in (file, *file.parents):
        if not path.is_relative_to(HOME):
            break
        os.utime(path, (int(seconds), int(seconds)))
        os.chown(path, 1000, 1000)


def picture(top, bottom, hills, width=420, height=280):
    """A landscape: a sky, a sun, and hills."""
    rows = []
    for y in range(height):
        row = bytearray([0])
        for x in range(width):
            colour = [round(a + (b - a) * (y // 7 * 7) / height) for a, b in zip(top, bottom)]
            if (x - 310) ** 2 + (y - 80) ** 2 < 900:
                colour = [255, 236, 190]
            for number, hill in enumerate(hills):
                edge = height * (0.55 + 0.13 * number) + 22 * math.sin(x / (46 + 17 * number) + number * 2)
                if y > edge:
                    colour = hill
            row += bytes(colour)
        rows.append(bytes(row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + chunk(b"IEND", b"")


def melody(notes, rate=4000):
    """A few notes, as a WAV file."""
    samples = bytearray()
    for note in notes:
        for number in range(rate * 2 // 5):
            fade = math.exp(-number / rate * 5)
            samples.append(round(128 + 100 * fade * math.sin(2 * math.pi * 440 * 2 ** (note / 12) * number / rate)))
    format = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    data = struct.pack("<4sI", b"data", len(samples)) + bytes(samples)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(format) + len(data), b"WAVE") + format + data


def document(lines):
    """A page of PDF."""
    text = "BT /F1 14 Tf 60 760 Td 20 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return f"{out}xref\n0 6\n0000000000 65535 f \n{table}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"


LETTER = """Dear Jonas,

the garden is white this morning, and the kettle has been on since six.
Thank you for the seeds. I have put them where it is dry.

Come when the road is clear.

Mira
"""


def begin():
    put("documents/letter to Jonas.txt", LETTER)
    put("documents/household/budget 2025.csv", "month,rent,food,energy\nJanuary,820,310,96\n")
    put("documents/household/lease.pdf", document(["Lease", "", "Between the owner and Mira Sand.", "The rent is due on the first of each month."]))
    put("documents/recipes/bread.md", "# Bread\n\n- 500 g flour\n- 350 g water\n- 10 g salt\n- 3 g yeast\n\nFold four times, wait a night, bake hot.\n")
    put("documents/recipes/Käsespätzle.md", "# Käsespätzle\n\nFlour, eggs, a pinch of salt. More cheese than seems right.\n")
    put("pictures/2025/winter morning.png", picture((120, 160, 210), (240, 225, 220), [(190, 205, 220), (150, 170, 195), (110, 130, 160)]))
    put("pictures/logo.svg", '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 40"><script>alert(1)</script><rect width="60" height="40" fill="#0f6b66"/><circle cx="30" cy="20" r="12" fill="#f6e6b4"/></svg>\n')
    put("music/evening.wav", melody([0, 4, 7, 12, 7, 4, 0, -5, 0, 4, 7, 12]))
    put("projects/site/index.html", "<!doctype html>\n<title>Garden</title>\n<h1>The garden</h1>\n<p>Notes on what grows here.</p>\n<script>document.body.textContent = 'scripts run'</script>\n")
    put("projects/site/app.js", "export function greet(name) {\n  return `Hello, ${name}`\n}\n")
    put("projects/data.bin", bytes(number * number % 251 for number in range(3000)))
    link = HOME / "current-budget.csv"
    link.symlink_to("documents/household/budget 2025.csv")
    os.utime(link, (1736500000, 1736500000), follow_symlinks=False)


def february():
    put("documents/household/budget 2025.csv", "month,rent,food,energy\nJanuary,820,310,96\nFebruary,820,295,101\n", "2025-02-28T18:12:00")
    put("documents/letter to Jonas.txt", LETTER.replace("Mira\n", "Mira\n\nP.S. The seeds are up already.\n"), "2025-02-20T07:45:10")


def march():
    put("documents/household/budget 2025.csv", "month,rent,food,energy\nJanuary,820,310,96\nFebruary,820,295,101\nMarch,820,322,88\n", "2025-03-31T17:00:00")
    put("pictures/2025/spring.png", picture((110, 180, 225), (245, 240, 210), [(160, 200, 130), (120, 175, 95), (85, 140, 75)]), "2025-03-24T14:20:00")
    put("documents/todo.txt", "call the plumber\norder compost\nwrite to Jonas\n", "2025-03-30T20:00:00")


def april():
    (HOME / "documents/todo.txt").unlink()
    put("projects/site/index.html", "<!doctype html>\n<title>Garden</title>\n<h1>The garden in April</h1>\n<p>Beans, peas, and a first row of lettuce.</p>\n<script>document.body.textContent = 'scripts run'</script>\n", "2025-04-18T11:11:11")
    put("documents/invoices/2025-04 plumber.txt", "Invoice 1042\n\nRepair of a tap: 84.00\nJourney: 25.00\n\nTotal: 109.00\n", "2025-04-09T10:00:00")


def may():
    put("documents/invoices/2025-05 compost.txt", "Invoice 77\n\nCompost, 2 m3: 96.00\n", "2025-05-03T10:00:00")
    put("pictures/2025/evening.png", picture((70, 60, 120), (250, 160, 110), [(120, 80, 110), (85, 55, 85), (50, 35, 60)]), "2025-05-16T21:10:00")


def nothing():
    pass


ALL = ["."]
ARCHIVES = [
    ("before-the-move", "old-laptop", "2025-01-05T20:00:00+01:00", ALL, begin, []),
    ("laptop", "mira-laptop", "2025-01-12T20:00:00+01:00", ALL, nothing, ["--comment", "first backup of the new laptop"]),
    ("pictures", "mira-laptop", "2025-02-01T12:00:00+01:00", ["pictures"], nothing, ["--tag", "yearly"]),
    ("laptop", "mira-laptop", "2025-03-01T20:00:00+01:00", ALL, february, []),
    ("laptop", "mira-laptop", "2025-04-01T20:00:00+02:00", ALL, march, []),
    ("pictures", "mira-laptop", "2025-04-02T12:00:00+02:00", ["pictures"], nothing, []),
    ("laptop", "mira-laptop", "2025-05-01T20:00:00+02:00", ALL, april, ["--tag", "upgrade", "--comment", "before the upgrade"]),
    ("laptop", "mira-laptop", "2025-06-01T20:00:00+02:00", ALL, may, []),
    ("pictures", "mira-laptop", "2025-06-01T12:00:00+02:00", ["pictures"], nothing, ["--tag", "keep"]),
]

main()
