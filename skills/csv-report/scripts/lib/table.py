# Reads a CSV file in one pass and keeps bounded statistics for every column.
# table.mjs is the same program for Node. Change both together: a test compares their output.
import hashlib
import os
import re
import stat

HEAD_BYTES = 65_536
MAX_RECORD_BYTES = 8_388_608
MAX_COLUMNS = 2_000
MAX_ROW_KEYS = 300_000
LONG_VALUE = 80
SCALE_DIGITS = 40
DELIMITERS = [",", ";", "\t", "|"]
KINDS = ["integer", "number", "boolean", "date", "datetime", "text"]
POWERS = [10**power for power in range(2 * SCALE_DIGITS + 12)]
SCALE = POWERS[SCALE_DIGITS]

MISSING = {"", "-", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "Null", "null", "None"}
BOOLEANS = {
    form for word in ("true", "false", "yes", "no") for form in (word, word.capitalize(), word.upper())
}
NUMBER = re.compile(
    r"([+-]?)(?:(0|[1-9][0-9]*)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?"
)
DECIMAL_COMMA = re.compile(r"[+-]?(?:0|[1-9][0-9]*),[0-9]+")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(.*))?")
TIME_TAIL = re.compile(r"(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?")


class InputError(Exception):
    """A problem with the input, told to the reader as it is."""


def trim(text):
    """Takes spaces and tabs off both ends."""
    return text.strip(" \t")


def shorten(text, limit):
    """The first `limit` code points of a text, with an ellipsis when something was cut off."""
    return text[:limit] + "…" if len(text) > limit else text


def parse_number(text):
    """(kind, exact value times 10^40) of a decimal numeral, or None when it is none."""
    match = NUMBER.fullmatch(text) if len(text) <= 100 else None
    if not match:
        return None
    whole = match[2] or ""
    fraction = match[3] or match[4] or ""
    exponent = int(match[5] or 0)
    digits = int(whole + fraction)
    shift = SCALE_DIGITS + exponent - len(fraction)
    if shift < 0 or exponent + len(whole) > SCALE_DIGITS:
        return None
    value = digits * POWERS[shift]
    integer = match[3] is None and match[4] is None and match[5] is None
    return ("integer" if integer else "number", -value if match[1] == "-" else value)


def parse_date(text):
    """(kind, sortable text, has an offset) of an ISO date, or None when it is none."""
    match = DATE.fullmatch(text) if len(text) <= 40 else None
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    days = lengths[month - 1] if 1 <= month <= 12 else 0
    if year < 1 or day < 1 or day > days:
        return None
    if match[4] is None:
        return ("date", text, False)
    tail = TIME_TAIL.fullmatch(match[6])
    if not tail or int(match[4]) > 23 or int(match[5]) > 59:
        return None
    if tail[1] is not None and int(tail[1]) > 59:
        return None
    zone = tail[2] or ""
    sortable = text[:10] + " " + text[11 : len(text) - len(zone)]
    return ("datetime", sortable, zone not in ("", "Z"))


class Column:
    def __init__(self, index, name, columns, decimal_comma):
        self.index = index
        self.name = name
        self.decimal_comma = decimal_comma
        self.distinct_limit = min(10_000, max(100, 500_000 // columns))
        self.keep_limit = min(100_000, max(1_000, 1_000_000 // columns))
        self.missing = 0
        self.filled = 0
        self.kinds = {kind: 0 for kind in KINDS}
        self.first = {}
        self.counts = {}
        self.distinct_capped = False
        self.decimal_commas = 0
        self.numeric = 0
        self.sum = 0
        self.min = 0
        self.max = 0
        self.kept = []
        self.stride = 1
        self.earliest = ""
        self.latest = ""
        self.offsets = False

    def add(self, raw, line):
        text = trim(raw)
        if text in MISSING:
            self.missing += 1
            return
        self.filled += 1
        kind = self.classify(text)
        self.kinds[kind] += 1
        if kind not in self.first:
            self.first[kind] = (line, shorten(text, LONG_VALUE))
        self.count(text)

    def classify(self, text):
        if text in BOOLEANS:
            return "boolean"
        comma = DECIMAL_COMMA.fullmatch(text) is not None
        if comma:
            self.decimal_commas += 1
        number = parse_number(text.replace(",", ".") if comma and self.decimal_comma else text)
        if number:
            self.add_number(number[1])
            return number[0]
        date = parse_date(text)
        if not date:
            return "text"
        if self.earliest == "" or date[1] < self.earliest:
            self.earliest = date[1]
        if date[1] > self.latest:
            self.latest = date[1]
        self.offsets = self.offsets or date[2]
        return date[0]

    def add_number(self, value):
        if self.numeric == 0 or value < self.min:
            self.min = value
        if self.numeric == 0 or value > self.max:
            self.max = value
        self.sum += value
        if self.numeric % self.stride == 0:
            self.kept.append(value)
        self.numeric += 1
        if len(self.kept) > self.keep_limit:
            # Every second value goes; what stays is every stride-th value of the column.
            self.kept = self.kept[::2]
            self.stride *= 2

    def count(self, text):
        key = text
        if len(text) > LONG_VALUE:
            digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
            key = shorten(text, LONG_VALUE) + "\0" + digest
        if key in self.counts:
            self.counts[key] += 1
        elif len(self.counts) >= self.distinct_limit:
            self.distinct_capped = True
        else:
            self.counts[key] = 1


def file_lines(file):
    """Yields (text, length in bytes) for every line."""
    number = 0
    while True:
        raw = file.readline(MAX_RECORD_BYTES + 2)
        if raw == b"":
            return
        number += 1
        if raw.endswith(b"\n"):
            raw = raw[:-1]
        if len(raw) > MAX_RECORD_BYTES:
            raise InputError(f"line {number} is longer than 8 MiB")
        if b"\0" in raw:
            raise InputError(f"line {number} has a NUL byte: not a text file")
        yield (raw.decode("utf-8", "replace"), len(raw))


def records(lines, delimiter):
    """Splits lines into (line, fields, unclosed); a quote counts only at the start of a field."""
    number = start = size = 0
    fields, parts = [], []
    quoted, fresh = False, True
    for text, length in lines:
        number += 1
        if number == 1 and text.startswith("\ufeff"):
            text = text[1:]
        if text.endswith("\r"):
            text = text[:-1]
        if quoted:
            parts.append("\n")
            size += length + 1
        else:
            start, size = number, length
            if trim(text) == "":
                yield (number, [], False)
                continue
            if '"' not in text:
                yield (number, text.split(delimiter), False)
                continue
        if size > MAX_RECORD_BYTES:
            raise InputError(f"line {start}: a quoted field is not closed within 8 MiB")
        at = 0
        while True:
            if quoted:
                quote = text.find('"', at)
                if quote < 0:
                    parts.append(text[at:])
                    break
                parts.append(text[at:quote])
                if text.startswith('"', quote + 1):
                    parts.append('"')
                else:
                    quoted = False
                at = quote + (2 if quoted else 1)
            elif fresh and text.startswith('"', at):
                quoted, fresh = True, False
                at += 1
            else:
                next_at = text.find(delimiter, at)
                parts.append(text[at:] if next_at < 0 else text[at:next_at])
                fields.append("".join(parts))
                parts, fresh = [], True
                if next_at < 0:
                    yield (start, fields, False)
                    fields = []
                    break
                at = next_at + 1
    if quoted:
        yield (start, fields + ["".join(parts)], True)


def sniff(head):
    lines = [(text, 0) for text in head.decode("utf-8", "replace").split("\n")]
    best = (",", 0, 1)
    for delimiter in DELIMITERS:
        widths = []
        for _, fields, _ in records(lines, delimiter):
            if fields:
                widths.append(len(fields))
            if len(widths) == 20:
                break
        width = widths[0] if widths else 1
        matches = widths.count(width)
        better = matches > best[1] or (matches == best[1] and width > best[2])
        if width > 1 and better:
            best = (delimiter, matches, width)
    return best[0]


def read_head(file):
    head = file.read(HEAD_BYTES)
    file.seek(0)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("the file is UTF-16; save it as UTF-8 first")
    turn = head.find(b"\r")
    if 0 <= turn < len(head) - 1 and b"\n" not in head:
        raise InputError("the lines end with CR only; save the file with LF or CRLF line ends")
    last = head.rfind(b"\n")
    return head[:last] if len(head) == HEAD_BYTES and last >= 0 else head


def read_table(path, delimiter, decimal_comma):
    """Reads the file at `path`; delimiter is a character, or None to find it out."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError("it is not a regular file")
    with open(path, "rb") as file:
        head = read_head(file)
        delimiter = delimiter or sniff(head)
        return collect(records(file_lines(file), delimiter), delimiter, decimal_comma)


def collect(source, delimiter, decimal_comma):
    table = {"delimiter": delimiter, "columns": [], "rows": 0, "blank": 0}
    table.update({"duplicates": 0, "rows_capped": False})
    odd = {"short": 0, "short_line": 0, "long": 0, "long_line": 0, "unclosed": 0, "replaced": 0}
    seen = set()
    header = None
    for line, fields, unclosed in source:
        if not fields:
            table["blank"] += 1
            continue
        if len(fields) > MAX_COLUMNS and header is None:
            raise InputError(f"the header has more than {MAX_COLUMNS} columns")
        if unclosed:
            odd["unclosed"] = line
        if odd["replaced"] == 0 and any("\ufffd" in field for field in fields):
            odd["replaced"] = line
        if header is None:
            header = [trim(field) for field in fields]
            table["columns"] = [
                Column(at + 1, name, len(header), decimal_comma) for at, name in enumerate(header)
            ]
            continue
        table["rows"] += 1
        if len(fields) < len(header):
            odd["short"] += 1
            odd["short_line"] = odd["short_line"] or line
        elif len(fields) > len(header):
            odd["long"] += 1
            odd["long_line"] = odd["long_line"] or line
        for column in table["columns"]:
            column.add(fields[column.index - 1] if column.index <= len(fields) else "", line)
        key = hashlib.sha256("\0".join(fields).encode("utf-8")).digest()[:18]
        if key in seen:
            table["duplicates"] += 1
        elif len(seen) < MAX_ROW_KEYS:
            seen.add(key)
        else:
            table["rows_capped"] = True
    table["odd"] = odd
    return table
