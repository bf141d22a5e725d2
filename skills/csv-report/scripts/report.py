#!/usr/bin/env python3
# Turns a CSV file into a short report. report.mjs gives the same output: change both together.
import errno
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib.render import build_report, json, markdown, plain, printable  # noqa: E402
from lib.table import InputError, read_table  # noqa: E402

HELP = """usage: report INPUT.csv [--out DIR] [--format md|json] [--top N]
              [--delimiter comma|semicolon|tab|pipe] [--decimal-comma]

Prints a report about the columns of a CSV file.

  --out DIR        write report.md and report.json into DIR and print a short summary;
                   without it the folder named by $OUTPUT_DIR is used, when that is set
  --format F       md or json: what to print, or the only file to write
  --top N          how many frequent values to list for each column (1 to 100, default 5)
  --delimiter D    the delimiter; found out from the first lines when not given
  --decimal-comma  read 1,5 as the number 1.5
  --help           print this text

Exit codes: 0 done, 1 the input cannot be read or the report cannot be written, 2 wrong usage.
"""
NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
REASONS = {
    errno.ENOENT: "no such file",
    errno.EACCES: "permission denied",
    errno.EEXIST: "it is not a folder",
    errno.ENOTDIR: "it is not a folder",
}


class UsageError(Exception):
    pass


def shown(path):
    """A path as text; bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def parse_arguments(arguments):
    options = {"top": "5", "help": False, "decimal_comma": False}
    rest = list(arguments)
    positional = []
    while rest:
        word = rest.pop(0)
        name = word.split("=", 1)[0]
        if word == "--":
            positional += rest
            rest = []
        elif word in ("--help", "-h"):
            options["help"] = True
        elif word == "--decimal-comma":
            options["decimal_comma"] = True
        elif name in ("--out", "--format", "--top", "--delimiter"):
            value = word[len(name) + 1 :] if "=" in word else (rest.pop(0) if rest else "")
            if value == "":
                raise UsageError(f"{name} needs a value")
            options[name[2:]] = value
        elif word.startswith("-"):
            raise UsageError(f"unknown option {shown(word)}")
        else:
            positional.append(word)
    if options["help"]:
        return options
    if len(positional) != 1:
        raise UsageError("give exactly one CSV file")
    if options.get("format") not in (None, "md", "json"):
        raise UsageError("--format is md or json")
    if not re.fullmatch("[1-9][0-9]?|100", options["top"]):
        raise UsageError("--top is a whole number from 1 to 100")
    if options.get("delimiter") is not None and options["delimiter"] not in NAMES:
        raise UsageError("--delimiter is comma, semicolon, tab or pipe")
    options["out"] = options.get("out") or os.environ.get("OUTPUT_DIR") or None
    options["input"] = positional[0]
    return options


def write_report(folder, name, text):
    """Writes next to the final name first, so that a link at that name is replaced, not followed."""
    draft = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(text.encode("utf-8"))
        os.replace(draft, os.path.join(folder, name))
    except OSError:
        if os.path.lexists(draft):
            os.remove(draft)
        raise


def is_same_file(a, b):
    return os.path.exists(a) and os.path.exists(b) and os.path.realpath(a) == os.path.realpath(b)


def run(arguments):
    options = parse_arguments(arguments)
    if options["help"]:
        return HELP
    source, out, form = options["input"], options["out"], options.get("format")
    kinds = [kind for kind in ("md", "json") if form in (None, kind)]
    if out and any(is_same_file(source, os.path.join(out, f"report.{kind}")) for kind in kinds):
        raise UsageError("the report would replace the input")
    comma = options["decimal_comma"]
    try:
        table = read_table(source, NAMES.get(options.get("delimiter")), comma)
        name = os.path.basename(os.path.normpath(source))
        report = build_report(shown(name), table, int(options["top"]), comma)
    except InputError as error:
        raise InputError(f"cannot read {printable(shown(source))}: {error}") from error
    except OSError as error:
        reason = REASONS.get(error.errno, "it cannot be opened")
        raise InputError(f"cannot read {printable(shown(source))}: {reason}") from error
    if not out:
        return json(report) if form == "json" else markdown(report)
    try:
        os.makedirs(out, exist_ok=True)
        for kind in kinds:
            write_report(out, f"report.{kind}", markdown(report) if kind == "md" else json(report))
    except OSError as error:
        reason = REASONS.get(error.errno, "it cannot be written")
        raise InputError(f"cannot write to {printable(shown(out))}: {reason}") from error
    rows, columns, notes = table["rows"], len(report["fields"]), len(report["notes"])
    files = ", ".join(f"report.{kind}" for kind in kinds)
    counts = f"rows: {rows}, columns: {columns}, notes: {notes}"
    return f"{plain(report['file'])}: {counts}\nwrote: {files}\n"


def main():
    try:
        sys.stdout.buffer.write(run(sys.argv[1:]).encode("utf-8"))
        sys.stdout.buffer.flush()
        return 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except InputError as error:
        message, code = str(error), 1
    except UsageError as error:
        message, code = f"{error} (see --help)", 2
    sys.stderr.buffer.write(f"report: {message}\n".encode("utf-8"))
    return code


sys.exit(main())
