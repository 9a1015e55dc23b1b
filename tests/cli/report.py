"""`ayatori report`: one page for all kinds of results, opened in a browser where there is one."""

import json
import re
import shutil
import subprocess
import unittest

from harness import RANKS, CommandTest

CHROMIUM = shutil.which("chromium")


class Report(CommandTest):
    def results(self):
        """Files of every kind, small."""
        commands = [
            ("solve", "convection3d:n=8,peclet=50", "--json", "solve.json", "-q"),
            ("eigen", "poisson2d-5:n=5", "--json", "eigen.json"),
            ("predict", "poisson3d-7:n=8", "--nodes", "1..16", "--profile", "altix3700bx2", "--memory-bandwidth", "5", "--json", "predict.json"),
            ("collectives", "search", "allreduce", "--ranks", "4", "--profile", "altix3700bx2", "--sizes", "8:64K", "--json", "search.json"),
            ("map", "poisson3d-7:n=8", "--ranks", "16", "--ranks-per-node", "4", "--network", "torus:2x2", "--json", "map.json", "--svg", "map.svg"),
            ("probe", "--seconds", "0.3", "-o", "probe.json"),
            ("bench", "grid", "npb-cg", "--class", "S", "--ranks", "1", "--threads", "1", "--json", "grid.json"),
            ("solve", "least-squares:n=6", "--least-squares", "--json", "least.json", "-q"),
            ("bench", "stream", "--elements", "10000", "--repetitions", "2", "--json", "stream.json"),
        ]
        for arguments in commands:
            done = self.run_ayatori(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(p.name for p in self.folder.iterdir() if p.suffix in (".json", ".svg"))

    def data_of(self, page):
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))

    def browse(self, *options):
        """What the browser makes of the page, and what it complains of. Charts are drawn in frames, which may not come in time on a busy machine."""
        for _ in range(3):
            done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=3000",
                                   f"--user-data-dir={self.folder / 'browser'}", *options, f"file://{self.folder / 'report.html'}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)
            if not re.search(r"</h3><div></div>", done.stdout):
                break
        return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]

    @unittest.skipIf(RANKS > 1, "rank 0 does it all")
    def test_shows_every_kind(self):
        files = self.results()
        done = self.run_ayatori("report", *files, "-o", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "report.html").read_text()
        data = self.data_of(page)
        self.assertEqual([entry["name"] for entry in data], files)
        for entry in data:
            if entry["name"].endswith(".json") and entry["name"] != "search.json":
                self.assertEqual(entry["result"], json.loads((self.folder / entry["name"]).read_text()))
        schedules = next(entry["result"] for entry in data if entry["name"] == "search.json")
        self.assertTrue(schedules["drawings"] and all("<svg" in drawing["svg"] for drawing in schedules["drawings"]))
        frame = page.partition('<script type="application/json"')[0] + page.rpartition("<script>")[2]
        self.assertNotRegex(frame, r"""(src|href)\s*=\s*["']?(https?:)?//|@import|url\(""")
        if CHROMIUM is None:
            self.skipTest("no chromium: the page is not opened")
        for width in (1280, 500):  # headless, no window is narrower
            dom, complaints = self.browse(f"--window-size={width},2000", "--dump-dom")
            self.assertEqual(complaints, [])
            sections = re.findall(r"<section.*?</section>", dom, re.DOTALL)
            self.assertEqual(len(sections), len(files))
            self.assertIn("Who talks to whom, as placed", sections[files.index("map.json")])
            least = sections[files.index("least.json")]
            self.assertRegex(least, "<b>least-squares</b><span>proved.*<td>\|\|Aᵀ r\|\|</td>")
            self.assertRegex(least, r"<b>[1-9]\.\d+e-\d+</b><span>\|\|Aᵀ r")
            for name, section in zip(files, sections):
                self.assertRegex(section, "<svg.*<(path|rect)|<img", name)
                self.assertNotRegex(section, "NaN|undefined|Infinity", name)
                for wide in re.findall(r'viewBox="0 0 (\d+)', section):
                    self.assertLess(int(wide), width)

    def test_what_names_hold_stays_text(self):
        result, _ = self.solve("poisson2d-5:n=4", "-q")
        result["matrix"]["source"] = "</script><script>document.title='broken'</script>"
        self.write("result.json", json.dumps(result))
        self.assertEqual(self.run_ayatori("report", "result.json", "-o", "report.html").returncode, 0)
        page = (self.folder / "report.html").read_text()
        self.assertEqual(page.count("</script>"), 2)
        self.assertEqual(self.data_of(page)[0]["result"], result)

    def test_bad_input(self):
        self.write("text.json", "hello")
        self.write("other.json", '{"schema": "somebody-else/1"}')
        self.write("list.json", "[1, 2]")
        self.write("empty.json", "")
        self.write("plan.json", '{"schema": "ayatori.collective-schedules/1", "best": [{"plan": 7}]}')
        for name in ("text.json", "other.json", "list.json", "empty.json", "plan.json", "missing.json"):
            done = self.run_ayatori("report", name, "-o", "report.html")
            self.assertEqual(done.returncode, 2, name)
            self.assertRegex(done.stderr, f"^ayatori: {name}: ")
            self.assertEqual(done.stderr.count("\n") if RANKS == 1 else 1, 1)
        done = self.run_ayatori("report", "list.json", "-o", "list.json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.run_ayatori("report", "-o", "report.html").returncode, 2)
        self.assertFalse((self.folder / "report.html").exists())


if __name__ == "__main__":
    unittest.main()
