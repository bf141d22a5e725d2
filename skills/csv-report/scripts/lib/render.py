# Builds the report from a table and writes it as Markdown or JSON.
# render.mjs is the same program for Node. Change both together: a test compares their output.
import json as standard_json
import re

from lib.table import KINDS, SCALE, parse_number, shorten

CONTROL = re.compile("[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]")
MARKDOWN = re.compile(r"[\\`*\[\]<>|]")
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


class Raw:
    """A number that is already written out, for the JSON text."""

    def __init__(self, text):
        self.text = text


def printable(text):
    """The text on one line, without control and direction characters."""
    return CONTROL.sub(" ", text)


def plain(text):
    return shorten(printable(text), 40)


def escape_markdown(text):
    return MARKDOWN.sub(lambda match: "\\" + match[0], text)


def cell(text):
    return escape_markdown(plain(text))


def label(column):
    return f"column {column.index}" if column.name == "" else plain(column.name)


def rounded(num, den, digits):
    """num/den with `digits` decimals, halves away from zero, trailing zeros dropped."""
    scaled = (abs(num) * 10**digits * 2 + den) // (2 * den)
    text = str(scaled).rjust(digits + 1, "0")
    fraction = text[-digits:].rstrip("0")
    sign = "-" if num < 0 and scaled > 0 else ""
    return sign + text[:-digits] + ("" if fraction == "" else "." + fraction)


def decimal(num, den):
    """Four decimals; below 0.1 four significant digits."""
    digits, grown = 4, abs(num) * 10_000
    while 0 < grown < 1000 * den and digits < 44:
        digits += 1
        grown *= 10
    return rounded(num, den, digits)


def share(part, whole):
    return rounded(part * 100, whole, 1) + "%"


def twice_median(ordered):
    """Twice the median of sorted values, so that it stays a whole number."""
    half = len(ordered) >> 1
    return ordered[half] * 2 if len(ordered) % 2 == 1 else ordered[half - 1] + ordered[half]


def number_stats(column):
    if column.numeric == 0 or column.numeric * 10 < column.filled * 9:
        return None
    ordered = sorted(column.kept)
    half = len(ordered) >> 1
    middle = twice_median(ordered)
    q1 = middle if half == 0 else twice_median(ordered[:half])
    q3 = middle if half == 0 else twice_median(ordered[len(ordered) - half :])
    # Fences of 1.5 times the distance between the quartiles, all four times their size.
    low = 2 * q1 - 3 * (q3 - q1)
    high = 2 * q3 + 3 * (q3 - q1)
    outside = sum(1 for value in ordered if value * 4 < low or value * 4 > high)
    return {
        "count": column.numeric,
        "min": decimal(column.min, SCALE),
        "max": decimal(column.max, SCALE),
        "mean": decimal(column.sum, SCALE * column.numeric),
        "median": decimal(middle, 2 * SCALE),
        "q1": decimal(q1, 2 * SCALE),
        "q3": decimal(q3, 2 * SCALE),
        "outliers": 0 if len(ordered) < 8 else outside,
        "low": decimal(low, 4 * SCALE),
        "high": decimal(high, 4 * SCALE),
        "sampled": len(ordered) if column.stride > 1 else 0,
    }


def type_of(column):
    present = [kind for kind in KINDS if column.kinds[kind] > 0]
    if not present:
        return "empty"
    if len(present) == 1:
        return present[0]
    if present == ["integer", "number"]:
        return "number"
    return "datetime" if present == ["date", "datetime"] else "mixed"


def summarize(column, top):
    kind = type_of(column)
    dated = kind in ("date", "datetime") and not column.offsets
    ordered = sorted(column.counts.items(), key=lambda item: -item[1])
    return {
        "column": column,
        "type": kind,
        "distinct": len(column.counts),
        "top": [{"value": key.split("\0")[0], "count": count} for key, count in ordered[:top]],
        "numbers": number_stats(column),
        "dates": {"earliest": column.earliest, "latest": column.latest} if dated else None,
    }


def column_notes(field, rows, decimal_comma):
    notes = []
    column, kind, distinct, numbers = (field[key] for key in ("column", "type", "distinct", "numbers"))
    name = label(column)
    if kind == "empty" and rows > 0:
        notes.append(f"{name}: no value at all.")
    elif column.missing * 5 >= rows and column.missing > 0:
        notes.append(f"{name}: {share(column.missing, rows)} of the values are missing.")
    if distinct == 1 and column.filled == rows and rows > 1:
        notes.append(f"{name}: the same value in every row.")
    if kind == "mixed":
        present = [one for one in KINDS if column.kinds[one] > 0]
        counts = ", ".join(f"{column.kinds[one]} {one}" for one in present)
        rare = min(present, key=lambda one: column.kinds[one])
        line, text = column.first[rare]
        where = f"the first {rare} is on line {line}"
        notes.append(f"{name}: mixed types ({counts}); {where}: {plain(text)}")
    if column.decimal_commas > 0 and not decimal_comma:
        count = column.decimal_commas
        notes.append(f"{name}: numbers with a decimal comma: {count} (try --decimal-comma).")
    if numbers is not None and numbers["outliers"] > 0:
        span = f"{numbers['low']} to {numbers['high']}"
        notes.append(f"{name}: possible outliers: {numbers['outliers']} (outside {span}).")
    if numbers is not None and numbers["sampled"] > 0:
        sample = f"{numbers['sampled']} of {numbers['count']} numbers"
        notes.append(f"{name}: median, quartiles and outliers come from {sample}.")
    if column.offsets:
        notes.append(f"{name}: times with different offsets; earliest and latest are not given.")
    if column.distinct_capped:
        notes.append(
            f"{name}: more than {distinct} distinct values; only the first {distinct} are counted."
        )
    return notes


def table_notes(table):
    notes = []
    columns, rows, odd = table["columns"], table["rows"], table["odd"]
    if not columns:
        notes.append("The file is empty.")
    elif rows == 0:
        notes.append("There is a header but no data row.")
    if columns and all(parse_number(column.name) for column in columns):
        notes.append("The first line looks like data, not like column names.")
    names = set()
    for column in columns:
        if column.name == "":
            notes.append(f"Column {column.index} has no name.")
        elif column.name in names:
            notes.append(f"Column {column.index} repeats the name {plain(column.name)}.")
        names.add(column.name)
    if odd["short"] > 0:
        notes.append(f"Rows with too few fields: {odd['short']} (first: line {odd['short_line']}).")
    if odd["long"] > 0:
        where = f"{odd['long']} (first: line {odd['long_line']})"
        notes.append(f"Rows with too many fields: {where}; the extra ones are ignored.")
    if odd["unclosed"] > 0:
        notes.append(f"The quoted field on line {odd['unclosed']} is never closed.")
    if odd["replaced"] > 0:
        notes.append(f"Some text is not valid UTF-8 (first: line {odd['replaced']}).")
    if table["duplicates"] > 0:
        notes.append(f"Rows that repeat an earlier row: {table['duplicates']}.")
    if table["rows_capped"]:
        notes.append("Repeated rows are looked for among the first 300000 different rows only.")
    return notes


def top_line(field):
    column, distinct = field["column"], field["distinct"]
    numeric = field["type"] in ("integer", "number")
    if column.filled == 0 or (numeric and distinct > 20):
        return []
    name = escape_markdown(label(column))
    if distinct == column.filled and distinct > 1:
        return [f"- {name}: every value is different"]
    values = [
        f"{cell(item['value'])} ({item['count']}, {share(item['count'], column.filled)})"
        for item in field["top"]
    ]
    return [f"- {name}: {', '.join(values)}"]


def section(title, head, rows):
    if not rows:
        return []

    def line(cells):
        return "| " + " | ".join(str(one) for one in cells) + " |"

    rule = line(["---:" if name == "#" else "---" for name in head])
    return ["", f"## {title}", "", line(head), rule] + [line(row) for row in rows]


def markdown(report):
    table, fields = report["table"], report["fields"]
    lines = [f"# CSV report: {cell(report['file'])}", ""]
    lines += [f"- Rows: {table['rows']}", f"- Columns: {len(fields)}"]
    lines += [f"- Delimiter: {report['delimiter']}", f"- Blank lines skipped: {table['blank']}"]
    lines += [f"- Repeated rows: {table['duplicates']}"]
    about, numbers, dates = [], [], []
    for field in fields:
        column, n, d = field["column"], field["numbers"], field["dates"]
        many = f"{field['distinct']}+" if column.distinct_capped else str(field["distinct"])
        name = escape_markdown(label(column))
        about.append([column.index, name, field["type"], column.filled, column.missing, many])
        if n is not None:
            values = [n[key] for key in ("min", "q1", "median", "q3", "max", "mean", "outliers")]
            numbers.append([name] + values)
        if d is not None:
            dates.append([name, d["earliest"], d["latest"]])
    lines += section("Columns", ["#", "Column", "Type", "Filled", "Missing", "Distinct"], about)
    head = ["Column", "Min", "Q1", "Median", "Q3", "Max", "Mean", "Outliers"]
    lines += section("Numbers", head, numbers)
    lines += section("Dates", ["Column", "Earliest", "Latest"], dates)
    tops = [line for field in fields for line in top_line(field)]
    if tops:
        lines += ["", "## Top values", ""] + tops
    if report["notes"]:
        lines += ["", "## Notes", ""] + ["- " + escape_markdown(note) for note in report["notes"]]
    return "\n".join(lines) + "\n"


def json(report):
    table = report["table"]
    fields = []
    for field in report["fields"]:
        column, numbers = field["column"], field["numbers"]
        if numbers is not None:
            numbers = {
                "count": numbers["count"],
                **{key: Raw(numbers[key]) for key in ("min", "q1", "median", "q3", "max", "mean")},
                "outliers": numbers["outliers"],
                "sampled": numbers["sampled"] > 0,
            }
        fields.append(
            {
                "index": column.index,
                "name": column.name,
                "type": field["type"],
                "filled": column.filled,
                "missing": column.missing,
                "distinct": field["distinct"],
                "distinct_is_minimum": column.distinct_capped,
                "top": field["top"],
                "numbers": numbers,
                "dates": field["dates"],
            }
        )
    whole = {
        "file": report["file"],
        "delimiter": report["delimiter"],
        "rows": table["rows"],
        "columns": len(fields),
        "blank_lines": table["blank"],
        "repeated_rows": table["duplicates"],
        "fields": fields,
        "notes": report["notes"],
    }
    return json_text(whole, "") + "\n"


def json_text(value, pad):
    if isinstance(value, Raw):
        return value.text
    if not isinstance(value, (dict, list)):
        return standard_json.dumps(value, ensure_ascii=False)
    deeper = pad + "  "
    is_list = isinstance(value, list)
    if is_list:
        items = [deeper + json_text(item, deeper) for item in value]
    else:
        items = [
            f"{deeper}{standard_json.dumps(key)}: {json_text(item, deeper)}"
            for key, item in value.items()
        ]
    opening, closing = "[]" if is_list else "{}"
    if not items:
        return opening + closing
    return opening + "\n" + ",\n".join(items) + "\n" + pad + closing


def build_report(file, table, top, decimal_comma):
    fields = [summarize(column, top) for column in table["columns"]]
    notes = table_notes(table)
    for field in fields:
        notes += column_notes(field, table["rows"], decimal_comma)
    return {
        "file": file,
        "table": table,
        "delimiter": DELIMITER_NAMES[table["delimiter"]],
        "fields": fields,
        "notes": notes,
    }
