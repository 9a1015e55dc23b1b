"""The declarations of a C++ header with their comments, as Markdown."""

import re

DOC = re.compile(r"^\s*/// ?(.*)$")
NAME = re.compile(r"\b(?:class|struct|enum class|enum|concept)\s+([A-Za-z_]\w*)|\busing\s+([A-Za-z_]\w*)\s*=")
FUNCTION = re.compile(r"([A-Za-z_]\w*|operator\S+)\s*\(")
VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*(?:=|\{|;)")


def chunks(text):
    """(comment, code) of every declaration at the level of a namespace."""
    comment, code, depth = [], [], 0
    for line in text.splitlines():
        bare = line.split("//")[0]
        if depth == 0 and not code:
            said = DOC.match(line)
            if said:
                comment.append(said.group(1))
                continue
            if not bare.strip() or re.match(r"\s*(#|namespace\b|\}|//)", line):
                comment = []
                continue
        code.append(line)
        # Parentheses count too: a default argument may hold a semicolon in braces.
        depth += sum(bare.count(c) for c in "{(") - sum(bare.count(c) for c in "})")
        if depth == 0 and re.search(r"[;}]\s*$", bare):
            yield comment, code
            comment, code = [], []


def is_type(code):
    return re.match(r"\s*(template\s*<.*>\s*)?(class|struct|enum|union)\b", " ".join(code)) is not None


def shown(code):
    """What a user may rely on: no private members, no bodies of functions."""
    if is_type(code):
        kept = []
        for line in code:
            if re.match(r"\s*(private|protected):", line):
                kept.append("};")
                break
            kept.append(line)
        return "\n".join(kept)
    text = "\n".join(code)
    if re.search(r"\)[^;{}]*\{", text) and not re.match(r"\s*(using|inline constexpr|constexpr)\b[^(]*=", text):
        return re.sub(r"\s*(?::[^:{]*)?\{.*", ";", text, count=1, flags=re.DOTALL)
    return text


def name_of(code):
    text = " ".join(line.split("//")[0] for line in code)
    text = re.sub(r"template\s*<[^>]*>", "", text)
    head = re.split(r"[{;]", text)[0]
    for pattern in (NAME, FUNCTION, VARIABLE):
        found = pattern.search(text if pattern is VARIABLE else head)
        if found:
            return next(group for group in found.groups() if group)
    return head.strip()


def prose(comment):
    """Comments are plain text with `code`: what Markdown would take for markup is kept as it is, and so are indented formulas."""
    paragraphs, formula = [], []
    for line in comment:
        if line.startswith("  "):
            formula.append(line)
            continue
        if formula:
            paragraphs += ["", *("  " + text for text in formula), ""]
            formula = []
        parts = re.split(r"(`[^`]*`)", line)
        paragraphs.append("".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]\\])", r"\\\1", part) for part in parts))
    if formula:
        paragraphs += ["", *("  " + text for text in formula)]
    return "\n".join(paragraphs)


def markdown(path, text):
    """A section of a page: a header with all that it declares."""
    lines = [f"## `{path}`", ""]
    for comment, code in chunks(text):
        if re.fullmatch(r"\s*(template <.*> )?(class|struct) \w+;", " ".join(code)):
            continue  # declared elsewhere
        lines += [f"### `{name_of(code)}`", "", prose(comment), "", "```cpp", shown(code), "```", ""]
    return "\n".join(lines) + "\n"
