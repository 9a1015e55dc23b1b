"""ayatori solve --least-squares: rectangular systems, what is proved, what is written, and every bad input."""

import math
import unittest

from harness import CommandTest, matrix_market, read_vector


def coordinate(rows, columns, entries):
    return matrix_market([(i + 1, j + 1, value) for (i, j), value in sorted(entries.items())], rows, columns)


def array(values):
    return "\n".join(["%%MatrixMarket matrix array real general", f"{len(values)} 1", *map(repr, values)]) + "\n"


def some_matrix(rows, columns):
    """A band, and entries far from it."""
    entries = {}
    for i in range(rows):
        for j in {i * columns // rows, (i * 7 + 3) % columns, (i * 5 + 1) % columns}:
            entries[i, j] = math.sin(1 + 3 * i + 7 * j) + 1.5
    return entries


def norm(values):
    return math.sqrt(sum(value * value for value in values))


class LeastSquares(CommandTest):
    def least_squares(self, *arguments, status=0):
        done = self.run_ayatori("solve", "A.mtx", "--least-squares", "--json", "result.json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return self.read_result("result.json"), done

    def test_no_other_x_leaves_less(self):
        for rows, columns in [(60, 17), (23, 23), (9, 3)]:
            with self.subTest(rows=rows, columns=columns):
                entries = some_matrix(rows, columns)
                b = [math.cos(5 * i) for i in range(rows)]
                self.write("A.mtx", coordinate(rows, columns, entries))
                self.write("b.mtx", array(b))
                result, done = self.least_squares("--rhs", "b.mtx", "-o", "x.mtx", "--rtol", "1e-10", "--explain")
                x = read_vector(self.folder / "x.mtx")
                self.assertEqual(len(x), columns)
                r = list(b)
                for (i, j), value in entries.items():
                    r[i] -= value * x[j]
                normal = [0.0] * columns
                for (i, j), value in entries.items():
                    normal[j] += value * r[i]
                self.assertTrue(result["proved"])
                self.assertAlmostEqual(result["norms"]["r"], norm(r), delta=1e-12 * norm(b))
                if result["status"] == "least-squares":
                    self.assertLessEqual(norm(normal), 1e-10 * result["norms"]["a_lower_bound"] * norm(r))
                    self.assertIn("a least-squares solution", done.stderr)
                    self.assertIn("no x nearby leaves less", done.stderr)
                else:
                    self.assertLessEqual(norm(r), 1e-10 * norm(b))

    def test_damping_makes_what_it_says_smallest(self):
        for rows, columns in [(40, 13), (9, 21)]:
            with self.subTest(rows=rows, columns=columns):
                entries = some_matrix(rows, columns)
                b = [math.cos(5 * i) for i in range(rows)]
                self.write("A.mtx", coordinate(rows, columns, entries))
                self.write("b.mtx", array(b))
                result, done = self.least_squares("--rhs", "b.mtx", "-o", "x.mtx", "--rtol", "1e-10", "--damp", "0.7", "--explain")
                self.assertEqual((result["damp"], result["rows"], result["proved"]), (0.7, rows, True))
                self.assertIn("||b - A x||^2 + damp^2 ||x||^2", done.stderr)
                x = read_vector(self.folder / "x.mtx")
                r = list(b)
                for (i, j), value in entries.items():
                    r[i] -= value * x[j]
                normal = [-0.49 * value for value in x]
                for (i, j), value in entries.items():
                    normal[j] += value * r[i]
                self.assertLessEqual(norm(normal), 1e-8 * norm(b))
                self.assertAlmostEqual(result["norms"]["r"], math.hypot(norm(r), 0.7 * norm(x)), delta=1e-12 * norm(b))

    def test_preconditioners_find_the_same_x_sooner(self):
        rows, columns = 60, 17
        entries = {(i, j): value * 10.0 ** (j % 5) for (i, j), value in some_matrix(rows, columns).items()}
        self.write("A.mtx", coordinate(rows, columns, entries))
        self.write("b.mtx", array([math.cos(5 * i) for i in range(rows)]))
        plain, _ = self.least_squares("--rhs", "b.mtx", "-o", "plain.mtx", "--rtol", "1e-12")
        for name, most in [("jacobi", plain["iterations"]), ("ic", plain["iterations"]), ("direct", 6)]:
            with self.subTest(name):
                result, done = self.least_squares("--rhs", "b.mtx", "-o", "x.mtx", "--rtol", "1e-12", "--preconditioner", name, "--explain")
                self.assertEqual((result["preconditioner"], result["proved"]), (name, True))
                self.assertLessEqual(result["iterations"], most)
                self.assertIn(f"LSMR + {name} of A^T A", done.stderr)
                self.assertAlmostEqual(result["norms"]["r"], plain["norms"]["r"], delta=1e-10 * plain["norms"]["b"])

    def test_columns_of_zeros_and_full_rows(self):
        entries = {(i, j): value for (i, j), value in some_matrix(30, 11).items() if j != 4}
        self.write("A.mtx", coordinate(30, 11, entries))
        result, _ = self.least_squares("--rhs", "random:1", "-o", "x.mtx", "--preconditioner", "direct")
        self.assertTrue(result["proved"])
        self.assertEqual(read_vector(self.folder / "x.mtx")[4], 0)
        self.write("A.mtx", coordinate(2000, 1000, {(i, j): 1.0 + (i == j) for i in range(2) for j in range(1000)}))
        done = self.run_ayatori("solve", "A.mtx", "--least-squares", "--preconditioner", "jacobi")
        self.assertEqual(done.returncode, 2)
        self.assertIn("rows that are too full", done.stderr)

    def test_the_shortest_of_many_solutions(self):
        rows, columns = 12, 40
        entries = some_matrix(rows, columns)
        self.write("A.mtx", coordinate(rows, columns, entries))
        result, done = self.least_squares("--rhs", "ones", "-o", "x.mtx", "--rtol", "1e-12", "--explain")
        self.assertEqual(result["status"], "solved")
        self.assertIn("There are fewer equations than unknowns", done.stderr)
        x = read_vector(self.folder / "x.mtx")
        r = [1.0] * rows
        for (i, j), value in entries.items():
            r[i] -= value * x[j]
        self.assertLessEqual(norm(r), 1e-11)
        # The shortest x is A^T y: a second solve finds y, which leaves nothing.
        self.write("A.mtx", coordinate(columns, rows, {(j, i): value for (i, j), value in entries.items()}))
        self.write("x_as_b.mtx", array(x))
        again, _ = self.least_squares("--rhs", "x_as_b.mtx")
        self.assertEqual(again["status"], "solved")

    def test_right_hand_sides_that_are_made(self):
        self.write("A.mtx", coordinate(30, 11, some_matrix(30, 11)))
        for rhs in ("ones", "random:3", "solution-random:5"):
            with self.subTest(rhs=rhs):
                result, _ = self.least_squares("--rhs", rhs)
                self.assertEqual(result["status"], "solved" if rhs.startswith("solution") else "least-squares")

    def test_nothing_is_claimed_without_proof(self):
        self.write("A.mtx", coordinate(60, 17, some_matrix(60, 17)))
        result, done = self.least_squares("--max-iterations", "2", "--explain", status=1)
        self.assertFalse(result["proved"])
        self.assertEqual(result["iterations"], 2)
        self.assertIn("not proved", done.stderr)
        self.assertIn("--max-iterations", done.stderr)

    def test_zeros(self):
        self.write("A.mtx", coordinate(6, 4, {}))
        result, _ = self.least_squares("-o", "x.mtx")
        self.assertEqual((result["status"], result["norms"]["x"]), ("least-squares", 0))
        self.assertEqual(read_vector(self.folder / "x.mtx"), [0.0] * 4)
        self.write("A.mtx", coordinate(6, 4, some_matrix(6, 4)))
        self.write("b.mtx", array([0.0] * 6))
        result, _ = self.least_squares("--rhs", "b.mtx", "-o", "x.mtx")
        self.assertEqual((result["status"], result["iterations"]), ("solved", 0))
        self.assertEqual(read_vector(self.folder / "x.mtx"), [0.0] * 4)

    def test_bad_input(self):
        self.write("A.mtx", coordinate(6, 4, some_matrix(6, 4)))
        self.write("b.mtx", array([1.0] * 5))
        for arguments, complaint in [
            (["--rhs", "b.mtx"], "b.mtx"),
            (["--rhs", "ones", "--rhs", "ones"], "one right-hand side"),
            (["--method", "cg"], "--method has no meaning with --least-squares"),
            (["--preconditioner", "ilut"], "ilut is not symmetric"), (["--damp", "-1"], "must be a number from 0 on"),
            (["--checkpoint", "c"], "--checkpoint has no meaning"),
            (["-o", "A.mtx"], "is an input"),
            (["-o", "x.unknown"], "x.unknown"),
        ]:
            with self.subTest(arguments=arguments):
                done = self.run_ayatori("solve", "A.mtx", "--least-squares", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(complaint, done.stderr)


if __name__ == "__main__":
    unittest.main()
