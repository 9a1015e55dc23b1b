"""Hooks of mkdocs: pages that are made (the root's, the reference, files that pages link to), and links as the repository has them.

Pages are written to be read in the repository, where a link is a path. Here a link to a file that is no page leads to a page that
shows it, so that the site is whole in itself; one that leads nowhere is an error (--strict).
"""

import os
import pathlib
import posixpath
import re
import subprocess
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import headers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r" {0,3}([-*]|\d+\.) ")
LINK = re.compile(r"\]\(([^)\s]*)\)")
NAME = re.compile(r"<code>([^\s<]{1,30})</code>")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".js": "javascript", ".css": "css",
             ".html": "html", ".cmake": "cmake", ".c": "c", ".h": "c", ".f90": "fortran"}
MODULES = ["base", "comm", "machine", "network", "collectives", "mapping", "sparse", "io", "solvers", "forecast", "eigen", "tuning",
           "session"]


def page_of(path):
    """Where the site has a file of the repository, by its path from the root."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/") and path.endswith((".md", ".json", ".svg")):
        return path.removeprefix("docs/")
    if "/" not in path and path.endswith(".md"):
        return path.lower()
    return f"files/{path}.md"


def links(text):
    """The links of a page, without those in code."""
    prose = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)
    return [link for link in LINK.finditer(prose) if link.group(1) and not re.match("[a-z]+:|#", link.group(1))]


def target_of(folder, link):
    """(path from the root, anchor)"""
    path, _, anchor = link.partition("#")
    return posixpath.normpath(posixpath.join(folder, path)), anchor


def with_empty_lines(text):
    """In the repository a list, a table and a block of code may follow a line of text at once; here they need an empty line between."""
    lines, is_code, block = [], False, []
    for line in text.split("\n"):
        is_fence = line.startswith("```")
        begins = (is_fence or block[-1:] == ["```"] or line.startswith("|") and block[-1:] != ["|"]
                  or ITEM.match(line) and not any(map(ITEM.match, block)))
        if block and line.strip() and not is_code and begins:
            lines.append("")
            block = []
        lines.append(line)
        if is_fence:
            is_code = not is_code
        block = [] if not line.strip() or is_code else [*block, next((mark for mark in ("|", "```") if line.startswith(mark)), line)]
    return "\n".join(lines)


def with_links_of_the_site(text, source, page):
    """`source` is where the page stands in the repository."""
    for link in reversed(links(text)):
        path, anchor = target_of(posixpath.dirname(source), link.group(1))
        if not (ROOT / path).exists():
            raise PluginError(f"{source}: the link to {path} leads nowhere")
        target = posixpath.relpath(page_of(path), posixpath.dirname(page)) + ("#" + anchor if anchor else "")
        text = text[:link.start(1)] + target + text[link.end(1):]
    return with_empty_lines(text)


def fenced(path):
    text = path.read_text()
    fence = "```" if "```" not in text else "~~~~"
    return f"{fence}{LANGUAGES.get(path.suffix, '')}\n{text.rstrip()}\n{fence}\n"


def file_page(path):
    """A page that shows a file, or every file of a folder."""
    full = ROOT / path
    lines = ["---", "search:", "  exclude: true", "---", f"# `{path}`", ""]
    for file in sorted(full.iterdir()) if full.is_dir() else [full]:
        if file.is_file():
            lines += [f"## `{file.name}`" if full.is_dir() else "", "", fenced(file)]
    return "\n".join(lines)


def command_help(program, words):
    return subprocess.run([program, *words, "--help"], check=True, text=True, capture_output=True).stdout.strip()


def command_sections(program, words=()):
    text = command_help(program, words)
    yield f"## `{' '.join(('ayatori', *words))}`\n\n```text\n{text}\n```\n"
    for name in re.findall(r"^  (\S+)", text.partition("Subcommands:\n")[2].partition("\n\n")[0], re.MULTILINE):
        yield from command_sections(program, (*words, name))


def command_page():
    program = os.environ.get("AYATORI", str(ROOT / "build/release/cli/ayatori"))
    if not pathlib.Path(program).is_file():
        raise PluginError(f"{program} is not built: the reference of commands is what they say themselves (make site builds it)")
    return "# Commands\n\nWhat `--help` says of every command.\n\n" + "\n".join(command_sections(program))


def module_page(module):
    folder = ROOT / "src/ayatori"
    files = sorted(path for path in (folder / module).rglob("*.hpp") if "pmpi" not in path.parts)
    text = f"# Module `{module}`\n\nNamespace `ayatori{'' if module == 'base' else '::' + module}`; target `ayatori::{module}`.\n\n"
    return text + "\n".join(headers.markdown(f"ayatori/{path.relative_to(folder)}", path.read_text()) for path in files)


def on_files(files, config):
    made = {page_of(path.name): with_links_of_the_site(path.read_text(), path.name, page_of(path.name))
            for path in ROOT.glob("*.md") if path.name != "README.md"}  # the site begins with docs/index.md
    sources = {path.name: path for path in ROOT.glob("*.md")} | {f"docs/{file.src_uri}": ROOT / "docs" / file.src_uri
                                                                  for file in files if file.src_uri.endswith(".md")}
    for source, path in sources.items():
        for link in links(path.read_text()):
            target, _ = target_of(posixpath.dirname(source), link.group(1))
            if page_of(target).startswith("files/") and (ROOT / target).exists():
                made[page_of(target)] = file_page(target)
    made["reference/commands.md"] = command_page()
    for module in MODULES:
        made[f"reference/cpp/{module}.md"] = module_page(module)
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.generated_by:
        return markdown
    return with_links_of_the_site(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def on_page_content(html, page, config, files):
    """Names in code are marked, so that no line breaks inside of them (site.css)."""
    return NAME.sub(r'<code class="name">\1</code>', html)
