"""The documentation as a site: `mkdocs build --strict` accepts every page and link, the search finds pages by their words, and neither a
phone nor a laptop scrolls sideways."""

import functools
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCES = pathlib.Path(os.environ["AYATORI_SOURCES"])
CHROMIUM = shutil.which("chromium")
WIDTHS = (390, 1366)
# Word -> pages of which one at least is about it.
EXPECTED = {"saddle": "saddle-points.html", "restart": "checkpoint.html", "shim": "shim.html", "singular": "singular.html",
            "slurm": "how-to/slurm.html", "fieldsplit": "petsc.html", "deterministic": "how-to/same-answer.html", "cocg": "complex.html"}
BROWSED = ("index.html", "tutorial.html", "how-to/large-matrices.html", "petsc.html", "options.html", "measured/peers.html",
           "reference/cpp/session.html")
# The browser ends at the page's event "load", which waits for every frame.
FRAMES = """<!DOCTYPE html><pre id="found"></pre>
%s
<script>
onload = () => {
  document.getElementById("found").textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => ({
    page: frame.getAttribute("src"), width: frame.clientWidth, needed: frame.contentDocument.documentElement.scrollWidth,
    broken: [...frame.contentDocument.images].filter(image => !image.naturalWidth).map(image => image.src)})));
};
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ayatori-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", SOURCES / "mkdocs.yml",
                               "--site-dir", cls.folder / "site"], text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.site = cls.folder / "site"

    def test_the_search_finds_pages_by_their_words(self):
        entries = json.loads((self.site / "search/search_index.json").read_text())["docs"]
        places = {entry["location"].partition("#")[0] for entry in entries}
        pages = {str(path.relative_to(self.site)) for path in self.site.rglob("*.html")} - {"404.html"}
        self.assertEqual(places, {page for page in pages if not page.startswith("files/")})
        for word, page in EXPECTED.items():
            titles = [entry["location"].partition("#")[0] for entry in entries
                      if re.search(rf"\b{word}", html.unescape(entry["title"] + " " + entry["text"]), re.IGNORECASE)]
            self.assertIn(page, titles, word)

    def test_every_page_can_be_reached(self):
        """From the home page, whose navigation lists all."""
        listed = set(re.findall(r'<a href="([^"#]+\.html)" class="md-nav__link', (self.site / "index.html").read_text()))
        pages = {str(path.relative_to(self.site)) for path in self.site.rglob("*.html")} - {"404.html"}
        self.assertLessEqual({page for page in pages if not page.startswith("files/")}, listed)

    def test_pictures_have_words_for_who_does_not_see_them(self):
        pictures = [(page, picture) for page in self.site.rglob("*.html") for picture in re.findall(r"<img [^>]*>", page.read_text())]
        self.assertGreater(len(pictures), 5)
        for page, picture in pictures:
            self.assertRegex(picture, r'alt="[^"]{10,}"', page)
            source = re.search(r'src="([^"]+)"', picture)[1]
            self.assertTrue((page.parent / source).is_file(), source)

    def test_no_page_scrolls_sideways(self):
        if CHROMIUM is None:
            self.skipTest("no chromium: the pages are not opened")
        frames = [f'<iframe src="{page}" style="width: {width}px; height: 800px; border: 0"></iframe>' for page in BROWSED for width in WIDTHS]
        (self.site / "frames.htm").write_text(FRAMES % "\n".join(frames))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.site))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                               f"--user-data-dir={self.folder / 'browser'}", f"http://127.0.0.1:{server.server_port}/frames.htm"],
                              text=True, capture_output=True, timeout=240)
        found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
        self.assertEqual(len(found), len(BROWSED) * len(WIDTHS))
        for entry in found:
            with self.subTest(**entry):
                self.assertLessEqual(entry["needed"], entry["width"])
                self.assertEqual(entry["broken"], [])


if __name__ == "__main__":
    unittest.main()
