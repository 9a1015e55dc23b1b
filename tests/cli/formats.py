"""Files as other programs write them: what SciPy, NumPy and compressors make is read, and what is written they read."""

import bz2
import gzip
import importlib.util
import json
import lzma
import math
import shutil
import subprocess
import unittest

from harness import AYATORI, RANKS, CommandTest, command, read_vector, tridiagonal

SCIPY = importlib.util.find_spec("scipy")
HDF5 = "HDF5" in subprocess.run([AYATORI, "--version", "--verbose"], stdout=subprocess.PIPE, text=True, check=True).stdout
H5PY = HDF5 and importlib.util.find_spec("h5py")
ROWS = 40
RTOL = 1e-12
CONDITION = (2 * (ROWS + 1) / math.pi) ** 2  # of tridiagonal(ROWS), at most: 4 over the least eigenvalue


def with_scipy():
    import numpy
    import scipy.io
    import scipy.sparse
    return numpy, scipy.io, scipy.sparse


class Formats(CommandTest):
    def solution(self, *arguments, **keywords):
        """x of a solve, written as Matrix Market."""
        done = self.run_ayatori("solve", *arguments, "--quiet", "--rtol", str(RTOL), "--use-ranks", "all", "-o", "x.mtx", **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return read_vector(self.folder / "x.mtx")

    def check_solution(self, *arguments, x=None, **keywords):
        x = x or self.expected
        self.assertLessEqual(math.dist(self.solution(*arguments, **keywords), x), CONDITION * RTOL * math.hypot(*x))

    def setUp(self):
        super().setUp()
        self.text = tridiagonal(ROWS).encode()
        self.expected = [i * (ROWS + 1 - i) / 2 for i in range(1, ROWS + 1)]

    def test_compressed(self):
        compress = {"A.gz": gzip.compress, "A.bz2": bz2.compress, "A.xz": lzma.compress}
        if shutil.which("zstd"):
            compress["A.zst"] = lambda data: subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
        for name, of in compress.items():
            with self.subTest(name):
                self.write(name, of(self.text))
                self.check_solution(name)
                self.write("cut", of(self.text)[:-20])
                done = self.run_ayatori("solve", "cut")
                self.assertEqual(done.returncode, 2)
                self.assertIn("ayatori: cut: the ", done.stderr)
                self.assertIn("the file is truncated", done.stderr)

    def test_compressed_results(self):
        self.write("A.mtx", self.text)
        self.solution("A.mtx")
        expected = (self.folder / "x.mtx").read_bytes()
        for suffix, expand in {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress,
                               ".zst": lambda data: subprocess.run(["zstd", "-qdc"], input=data, stdout=subprocess.PIPE, check=True).stdout}.items():
            if suffix == ".zst" and not shutil.which("zstd"):
                continue
            with self.subTest(suffix):
                done = self.run_ayatori("solve", "A.mtx", "--quiet", "--rtol", str(RTOL), "--use-ranks", "all", "-o", "x.mtx" + suffix)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(expand((self.folder / ("x.mtx" + suffix)).read_bytes()), expected)
        for words in (["solve", "A.mtx", "-o", "x.tex"], ["generate", "poisson2d-5:n=3", "-o", "A.tex"]):
            done = self.run_ayatori(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("tex: the name of a file to write ends in one of .mtx, .mtx.gz, .mtx.bz2, .mtx.xz, .mtx.zst, .petsc, .np", done.stderr)

    def test_plain_columns(self):
        lower = self.text.decode().splitlines()[2:]  # of a symmetric matrix
        entries = lower + [f"{j} {i} {value}" for i, j, value in map(str.split, lower) if i != j]
        self.write("A.txt", "\n".join(["% row column value", *entries]) + "\n")
        self.write("b.txt", "1\n" * ROWS)
        self.check_solution("A.txt", "--rhs", "b.txt")
        self.write("F.txt", "".join(f"{float(i):.18e} {float(j):.18e} {float(value):.18e}\n" for i, j, value in map(str.split, entries)))
        self.check_solution("F.txt")
        self.write("A.gz", gzip.compress("\n".join(entries).encode()))
        self.check_solution("A.gz")
        self.write("A.txt", "\n".join(self.text.decode().splitlines()[1:]))
        done = self.run_ayatori("solve", "A.txt")
        self.assertEqual(done.returncode, 2)
        self.assertIn("ayatori: A.txt, line 1: this is the size line of a Matrix Market file", done.stderr)

    def test_standard_streams(self):
        self.write("A.gz", gzip.compress(self.text))
        for data in ("A.gz", None):  # a file, and what comes through a pipe
            with self.subTest(data):
                pipe = subprocess.Popen(["cat", "A.gz"], cwd=self.folder, stdout=subprocess.PIPE)
                with open(self.folder / "A.gz", "rb") if data else pipe.stdout as stdin:
                    self.check_solution("-", stdin=stdin)
                pipe.communicate() if data else pipe.wait()
        done = self.run_ayatori("solve", "A.gz", "-o", "-", "--json", "r.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:2], ["%%MatrixMarket matrix array real general", f"{ROWS} 1"])
        self.assertEqual(len(done.stdout.splitlines()), ROWS + 2)
        self.assertIn("written    standard output (the solution)", done.stderr)
        done = self.run_ayatori("solve", "A.gz", "--json", "-", "-q")
        self.assertTrue(json.loads(done.stdout)["converged"])
        for wrong in (["solve", "-", "--rhs", "-"], ["solve", "A.gz", "-o", "-", "--json", "-"])[:2 if RANKS == 1 else 1]:
            done = self.run_ayatori(*wrong, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 2)
            self.assertIn("ayatori: -: standard ", done.stderr)

    @unittest.skipIf(RANKS > 1, "launchers lead standard output through a pipe")
    def test_full_standard_output(self):
        """What does not go to standard output goes to a second place, too."""
        self.write("A.mtx", self.text)
        for option, name in (("-o", "x.mtx"), ("--json", "result.json")):
            with open("/dev/full", "w") as full:
                done = subprocess.run(command("solve", "A.mtx", option, "-"), cwd=self.folder, text=True, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("ayatori: standard output: cannot be written: No space left on device: ", done.stderr)
            self.assertLess(done.stderr.index("result     converged"), done.stderr.index("cannot be written"))
            [place] = self.folder.glob("ayatori-*/" + name)
            self.assertIn(str(place.relative_to(self.folder)), done.stderr)
            self.assertGreater(place.stat().st_size, 0)

    def test_several_columns(self):
        self.write("A.mtx", self.text)
        ones = "1\n" * ROWS
        self.write("B.mtx", f"%%MatrixMarket matrix array real general\n{ROWS} 2\n" + ones + ones.replace("1", "2"))
        result, _ = self.solve("A.mtx", "--rhs", "B.mtx", "--rtol", str(RTOL), "-o", "x.mtx")
        self.assertEqual([solve["rhs"] for solve in result["sequence"]["earlier"]] + [result["rhs"]], ["B.mtx:1", "B.mtx:2"])
        for k in (1, 2):
            for a, b in zip(read_vector(self.folder / f"x.{k}.mtx"), self.expected, strict=True):
                self.assertAlmostEqual(a, k * b, delta=1e-8)
        done = self.run_ayatori("solve", "A.mtx", "--rhs", "B.mtx", "--rhs", "ones", "--rtol", str(RTOL), "-q", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["%%MatrixMarket matrix array real general", f"{ROWS} 3"])
        for line, x in zip(lines[2:], [k * x for k in (1, 2, 1) for x in self.expected], strict=True):
            self.assertAlmostEqual(float(line), x, delta=1e-8 * x)
        self.check_solution("A.mtx", "--rhs", "B.mtx:2", x=[2 * x for x in self.expected])
        done = self.run_ayatori("solve", "A.mtx", "--rhs", "B.mtx:3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("B.mtx: there is no column 3 of 2", done.stderr)

    def test_kinds_that_are_not_read(self):
        for content, words in (
            (b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(500),
             "the HDF5 file cannot be read: " if HDF5 else "this is a MATLAB 7.3 file (HDF5), which is not read: in MATLAB: save("),
            (b"\x89HDF\r\n\x1a\n" + bytes(500), "the HDF5 file cannot be read: " if HDF5 else "this is an HDF5 file"),
            (b"1,1,4\n2,2,4\n", "this is columns with commas between them (CSV), which is not read: put blanks for the commas: tr"),
            (lzma.compress(b"1 1 4\n", lzma.FORMAT_ALONE), "this is data compressed by lzma (.lzma), which is not read: decompress it: xz -dc"),
            (b"<!DOCTYPE html><html>404</html>", "this is a web page"),
            (bytes((i * 7919 + 13) % 256 for i in range(4096)), "binary data of no kind that is known"),
        )[:None if RANKS == 1 else 1]:
            self.write("A", content)
            done = self.run_ayatori("solve", "A")
            self.assertEqual(done.returncode, 2)
            self.assertIn("ayatori: A: " + words, done.stderr)

    @unittest.skipUnless(SCIPY, "needs scipy")
    def test_npz(self):
        _, _, sparse = with_scipy()
        A = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(ROWS, ROWS))
        for form in ("csr", "csc", "coo"):
            for compressed in (True, False)[:None if RANKS == 1 else 1]:
                with self.subTest(form=form, compressed=compressed):
                    sparse.save_npz(self.folder / "A.npz", A.asformat(form), compressed=compressed)
                    self.check_solution("A.npz")
        sparse.save_npz(self.folder / "A.npz", A.asformat("bsr"))
        done = self.run_ayatori("solve", "A.npz")
        self.assertEqual(done.returncode, 2)
        self.assertIn("A.npz: the matrix is in the form 'bsr', which is not read", done.stderr)
        done = self.run_ayatori("generate", "convection2d:n=7", "-o", "G.npz")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_ayatori("generate", "convection2d:n=7", "-o", "G.mtx")
        import scipy.io
        difference = sparse.load_npz(self.folder / "G.npz") - scipy.io.mmread(self.folder / "G.mtx")
        self.assertEqual(abs(difference).max(), 0)

    @unittest.skipUnless(SCIPY, "needs scipy")
    def test_npy(self):
        numpy, _, _ = with_scipy()
        A = 2 * numpy.eye(ROWS) - numpy.eye(ROWS, k=1) - numpy.eye(ROWS, k=-1)
        for matrix in (A, numpy.asfortranarray(A), A.astype(">f4"), A.astype("i1"))[:None if RANKS == 1 else 2]:
            numpy.save(self.folder / "A.npy", matrix)
            self.check_solution("A.npy")
        numpy.save(self.folder / "b.npy", 3 * numpy.ones(ROWS))
        self.check_solution("A.npy", "--rhs", "b.npy", x=[3 * x for x in self.expected])
        numpy.save(self.folder / "B.npy", numpy.array([[1.0, 2.0, 3.0]] * ROWS))
        done = self.run_ayatori("solve", "A.npy", "--rhs", "B.npy", "--rtol", str(RTOL), "-o", "x.npy")
        self.assertEqual(done.returncode, 0, done.stderr)
        for k in (1, 2, 3):
            x = numpy.load(self.folder / f"x.{k}.npy")
            self.assertEqual((x.shape, x.dtype), ((ROWS,), numpy.float64))
            self.assertLess(abs(A @ x - k).max(), 1e-8)

    @unittest.skipUnless(SCIPY, "needs scipy")
    def test_mat(self):
        numpy, scipy_io, sparse = with_scipy()
        A = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(ROWS, ROWS)).tocsc()
        b = 2 * numpy.ones((ROWS, 1))
        for compressed in (True, False)[:None if RANKS == 1 else 1]:
            scipy_io.savemat(self.folder / "S.mat", {"title": "x", "A": A, "b": b}, do_compression=compressed)
            self.check_solution("S.mat")
            self.check_solution("S.mat:A", "--rhs", "S.mat:b", x=[2 * x for x in self.expected])
            self.check_solution("S.mat", "--rhs", "S.mat", x=[2 * x for x in self.expected])
            scipy_io.savemat(self.folder / "P.mat", {"Problem": {"name": "x", "A": A, "id": 7}}, do_compression=compressed)
            self.check_solution("P.mat")
            scipy_io.savemat(self.folder / "F.mat", {"F": A.toarray().astype("i1")}, do_compression=compressed)
            self.check_solution("F.mat")
        scipy_io.savemat(self.folder / "two.mat", {"A": A, "B": A})
        done = self.run_ayatori("solve", "two.mat")
        self.assertEqual(done.returncode, 2)
        self.assertIn("two.mat: holds A (40 x 40, sparse), B (40 x 40, sparse): say which, two.mat:NAME", done.stderr)

    @unittest.skipUnless(SCIPY and H5PY, "needs scipy, h5py and a build with HDF5")
    def test_hdf5(self):
        import h5py
        numpy, _, sparse = with_scipy()
        A = sparse.diags([-2.0, 4.0, -1.0], [-1, 0, 1], shape=(ROWS, ROWS)).tocsr()  # its transpose has another solution
        ones = A @ numpy.ones(ROWS)
        kinds = {"csr": (A, "indptr", "indices"), "csc": (A.tocsc(), "indptr", "indices"), "matlab": (A.tocsc(), "jc", "ir")}
        with h5py.File(self.folder / "A.h5", "w", userblock_size=512) as file:
            for name, (matrix, pointers, indices) in kinds.items():
                group = file.create_group("matrices/" + name)
                group.create_dataset("data", data=matrix.data, chunks=(7,), compression="gzip", shuffle=True)
                group.create_dataset(indices, data=matrix.indices.astype("u8"), chunks=(200,), maxshape=(None,), fletcher32=True)
                group[pointers] = matrix.indptr
                group.attrs.update({"MATLAB_sparse": ROWS} if name == "matlab" else {"encoding-type": name + "_matrix", "shape": matrix.shape})
            file["b"] = ones
            file["B"] = numpy.column_stack([ones, 2 * ones, 3 * ones])
            file["mask"] = numpy.eye(ROWS, dtype=bool)
            file.create_dataset("lzf", data=A.toarray(), compression="lzf")
        for name in ("matlab", "csr", "csc", "matrices/csc")[:None if RANKS == 1 else 2]:
            with self.subTest(name):
                self.check_solution("A.h5:" + name, "--rhs", "A.h5:b", x=[1.0] * ROWS)
        self.check_solution("A.h5:csr", "--rhs", "A.h5:B:2", x=[2.0] * ROWS)
        self.check_solution("A.h5:mask", "--rhs", "A.h5:B:3", x=(3 * ones).tolist())
        self.write("A.gz", gzip.compress((self.folder / "A.h5").read_bytes()))
        with open(self.folder / "A.h5", "rb") as stdin:
            self.check_solution("/dev/stdin:csr", "--rhs", "A.gz:b", x=[1.0] * ROWS, stdin=stdin)
        done = self.run_ayatori("solve", "A.h5:csr", "--rhs", "A.h5:B", "--rtol", str(RTOL), "-o", "x.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        for k in (1, 2, 3):
            with h5py.File(self.folder / f"x.{k}.h5", "r") as file:
                self.assertEqual((list(file), file["x"].shape, file["x"].dtype), (["x"], (ROWS,), numpy.float64))
                self.assertLess(abs(file["x"][()] - k).max(), 1e-8)
        content = (self.folder / "A.h5").read_bytes()
        self.write("cut.h5", content[:-1000])
        for source, words in (
            ("A.h5", "A.h5: holds B (40 x 3), b (40 x 1), lzf (40 x 40), mask (40 x 40), matrices/csc (40 x 40, sparse), "),
            ("A.h5:c", "A.h5: no variable is called 'c': it holds B (40 x 3), "),
            ("A.h5:lzf", "A.h5, lzf: compressed by 'lzf' (filter 32000), which this HDF5 library cannot read: in Python"),
            ("cut.h5", "cut.h5: the HDF5 file cannot be read: truncated file"),
        )[:None if RANKS == 1 else 1]:
            done = self.run_ayatori("solve", source)
            self.assertEqual(done.returncode, 2)
            self.assertIn("ayatori: " + words, done.stderr)
            self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)

    @unittest.skipUnless(SCIPY, "needs scipy")
    def test_harwell_boeing(self):
        numpy, scipy_io, sparse = with_scipy()
        A = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(ROWS, ROWS)).tocsc()
        for matrix in (A, A.astype(numpy.float32), A.astype(int), A * 1e-120, A * -1e120)[:None if RANKS == 1 else 2]:
            scipy_io.hb_write(self.folder / "A.hb", matrix)
            scale = float(matrix[0, 0]) / 2
            self.check_solution("A.hb", x=[x / scale for x in self.expected])


if __name__ == "__main__":
    unittest.main()
