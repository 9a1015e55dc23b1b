"""-ksp_type ayatori and -pc_type ayatori in a program of linear systems that knows nothing of them."""

import os
import pathlib
import re
import unittest

from harness import PROGRAM, RANKS, PetscTest, launched

# Whose residuals are far above rounding, whatever the machine does.
PLAIN = "-ksp_ayatori_method cg -ksp_ayatori_preconditioner jacobi"
MONITORED = re.compile(r"^ *(\d+) KSP Residual norm (\S+)", re.MULTILINE)


class Tolerances(PetscTest):
    def test_the_relative_one(self):
        for rtol in (1e-3, 1e-8, 1e-12):
            (solve,), _ = self.solves("", f"-ksp_rtol {rtol}")
            self.assert_solved(solve, rtol, 1e3 * rtol)
            self.assertEqual(solve.reason, "CONVERGED_RTOL")

    def test_the_absolute_one(self):
        (solve,), said = self.solves("", "-ksp_rtol 1e-30 -ksp_atol 1e-3 -ksp_view")
        self.assertEqual(solve.reason, "CONVERGED_ATOL")
        norm = float(re.search(r"\|\|b - A x\|\| = (\S+)", said)[1])
        self.assertLess(norm, 1e-3)

    def test_too_few_iterations(self):
        (solve,), _ = self.solves("", "-ksp_max_it 3")
        self.assertEqual(solve.reason, "DIVERGED_ITS")
        self.assertLessEqual(solve.iterations, 4)
        (solve,), _ = self.solves("", "-ksp_max_it 0")
        self.assertEqual((solve.reason, solve.iterations), ("DIVERGED_ITS", 0))
        (solve,), _ = self.solves("", "-ksp_max_it 3 -ksp_converged_maxits")
        self.assertEqual(solve.reason, "CONVERGED_ITS")

    def test_more_than_doubles_give(self):
        (solve,), _ = self.solves("-n 70 -wind 0.123", "-ksp_rtol 1e-17")
        self.assertRegex(solve.reason, "^DIVERGED_")

    def test_of_the_first_residual(self):
        (solve,), _ = self.solves("", "-ksp_converged_use_initial_residual_norm")
        self.assert_solved(solve)

    def test_without_convergence_test(self):
        (solve,), _ = self.solves("", "-ksp_convergence_test skip -ksp_norm_type unpreconditioned -ksp_max_it 5")
        self.assertRegex(solve.reason, "^(DIVERGED|CONVERGED)_ITS$")

    def test_norms_without_meaning(self):
        self.assert_refused("does not support norm type PRECONDITIONED", options="-ksp_type ayatori -ksp_norm_type preconditioned")


class Guess(PetscTest):
    def test_a_good_one_takes_nothing(self):
        (solve,), _ = self.solves("-guess")
        self.assert_solved(solve)
        self.assertEqual((solve.iterations, solve.error), (0, 0))

    def test_the_one_before(self):
        for solve in self.solves("-guess -solves 2 -change values")[0]:
            self.assert_solved(solve)


class Shown(PetscTest):
    def test_monitors(self):
        (solve,), said = self.solves("", f"-ksp_monitor {PLAIN}")
        lines = [(int(at), float(norm)) for at, norm in MONITORED.findall(said)]
        self.assertEqual([at for at, _ in lines], list(range(solve.iterations + 1)))
        self.assertAlmostEqual(lines[-1][1] / lines[0][1] / solve.residual, 1, delta=1e-3)

    def test_monitors_of_a_method_with_two_products_per_step(self):
        (solve,), said = self.solves("-wind 0.3 -history", "-ksp_monitor -ksp_ayatori_method bicgstab -ksp_ayatori_preconditioner jacobi")
        lines = [(int(at), norm) for at, norm in MONITORED.findall(said)]
        self.assertEqual([at for at, _ in lines], list(range(solve.iterations + 1)))
        self.assertEqual(lines[0][1], lines[1][1])  # x is as it was
        self.assertRegex(said, f"history {solve.iterations + 1} from ")

    def test_the_true_residual(self):
        (solve,), said = self.solves("", f"-ksp_monitor_true_residual {PLAIN}")
        last = [line for line in said.splitlines() if "true resid norm" in line][-1]
        self.assertRegex(last, rf"^ *{solve.iterations} ")
        self.assertAlmostEqual(float(last.split()[-1]) / solve.residual, 1, delta=1e-3)

    def test_history(self):
        found, said = self.solves("-history -solves 2", PLAIN)
        self.assertRegex(said, f"history {found[-1].iterations + 1} from ")

    def test_view(self):
        _, said = self.solves("", "-ksp_view -ksp_converged_reason")
        self.assertRegex(said, r"Linear solve converged due to CONVERGED_RTOL iterations \d+")
        self.assertRegex(said, r"Ayatori: \w+.* \+ .*, because ")
        self.assertRegex(said, r"Ayatori: converged after \d+ iterations in \S+ s: \|\|b - A x\|\| = \S+ \+- \S+, verified; wanted ")
        self.assertIn("1 set-up served 1 solve", said)

    def test_explanation(self):
        _, said = self.solves("", "-ksp_ayatori_explain")
        self.assertRegex(said, r"(?s)converged: .*considered|tried")

    def test_log(self):
        (solve,), said = self.solves("", f"-log_view {PLAIN}")
        flops = float(re.search(r"^KSPSolve +1 \S+ +\S+ +\S+ +(\S+)", said, re.MULTILINE)[1])
        of_products = solve.iterations * 2 * (5 * 400 - 4 * 20) / RANKS
        self.assertGreater(flops, of_products)  # of the rank that has most of them
        self.assertLess(flops, 1.5 * of_products + 20000)

    def test_help_lists_the_options(self):
        _, said = self.solves("", "-help")
        page = (pathlib.Path(__file__).parents[2] / "docs" / "options.md").read_text()
        options = re.findall(r"`(-ksp_ayatori_\w+)`", page)
        self.assertEqual(set(re.findall(r"(-ksp_ayatori_\w+)", said)), set(options))
        for name in re.findall(r"`(-ksp_(?!ayatori)\w+)`", page):  # those that are PETSc's own
            self.assertIn(f"{name} ", said)


class Options(PetscTest):
    def test_a_choice(self):
        _, said = self.solves("", "-ksp_ayatori_method gmres -ksp_ayatori_preconditioner jacobi -ksp_view")
        self.assertRegex(said, r"Ayatori: gmres\(\d+\) \+ jacobi")
        _, said = self.solves("", "-ksp_ayatori_exclude cg,minres,gmres -ksp_view")
        self.assertNotRegex(said, r"Ayatori: (cg|minres|gmres)")

    def test_wrong_ones(self):
        for words, sentence in (("method foo", "unknown method 'foo'"), ("time_limit -3", "-ksp_ayatori_time_limit -3: want 0 or more"),
                                ("replay nowhere", "nowhere"), ("fill 2", "-ksp_ayatori_fill has no meaning")):
            self.assert_refused(f"Ayatori: .*{sentence}", options=f"-ksp_type ayatori -ksp_ayatori_{words}")

    def test_graph_partition(self):
        (solve,), _ = self.solves("", "-ksp_ayatori_partition graph")
        self.assert_solved(solve)

    def test_a_file_is_written_only_where_it_is_asked_for(self):
        (solve,), _ = self.solves("", "-ksp_ayatori_time_limit 100")
        self.assert_solved(solve)


class Matrices(PetscTest):
    def test_types(self):
        for kind in ("baij", "sbaij", "dense", "sell"):
            (solve,), _ = self.solves("-n 12", f"-mat_type {kind}")
            self.assert_solved(solve)

    def test_values_change(self):
        found, said = self.solves("-solves 6 -change values", "-ksp_view")
        self.assertEqual(len(found), 6)
        for solve in found:
            self.assert_solved(solve)
        set_ups = [int(n) for n in re.findall(r"(\d+) set-ups? served", said)]
        self.assertLess(set_ups[-1], 6)

    def test_pattern_changes(self):
        for solve in self.solves("-solves 4 -change pattern")[0]:
            self.assert_solved(solve)

    def test_size_changes(self):
        for solve in self.solves("-solves 3 -change size")[0]:
            self.assert_solved(solve)

    def test_nothing_changes(self):
        found, said = self.solves("-solves 5", "-ksp_view")
        self.assertEqual(len({solve.residual <= 1e-8 for solve in found}), 1)
        self.assertIn("1 set-up served 5 solves", said)

    def test_another_matrix_for_the_preconditioner(self):
        (solve,), _ = self.solves("-other_pmat")
        self.assert_solved(solve)

    def test_products_alone(self):
        (solve,), said = self.solves("-shell -other_pmat -wind 0.2", "-ksp_view")
        self.assert_solved(solve)
        self.assertRegex(said, r"Ayatori: fgmres \+ \S+ of Pmat")

    def test_products_alone_by_another_method(self):
        (solve,), said = self.solves("-shell", "-ksp_view -ksp_ayatori_method cg")
        self.assert_solved(solve)
        self.assertRegex(said, r"Ayatori: cg \+ \S+ of Pmat")

    def test_products_alone_and_transposed(self):
        self.assert_refused("no transposed solve where the matrix is known by its products", "-shell -transposed")

    def test_products_alone_and_no_matrix(self):
        (solve,), said = self.solves("-shell_pmat", "-ksp_view -ksp_ayatori_restart 100")
        self.assert_solved(solve)
        self.assertIn("Ayatori: gmres + no preconditioner, as neither Amat nor Pmat has entries", said)
        (solve,), said = self.solves("-shell_pmat", "-ksp_view -ksp_ayatori_method cg")
        self.assert_solved(solve)
        self.assertIn("Ayatori: cg + no preconditioner", said)
        self.assert_refused("-ksp_ayatori_preconditioner ilu is made of a matrix with entries", "-shell_pmat",
                            "-ksp_type ayatori -ksp_ayatori_preconditioner ilu")

    def test_not_finite(self):
        (solve,), said = self.solves("-spoiled", "-ksp_view")
        self.assertEqual(solve.reason, "DIVERGED_NANORINF")
        self.assertIn("the matrix holds a NaN", said)
        self.assert_refused("DIVERGED_NANORINF", "-spoiled", "-ksp_type ayatori -ksp_error_if_not_converged")

    def test_transposed(self):
        (solve,), _ = self.solves("-transposed -wind 0.4")
        self.assert_solved(solve)
        (solve,), _ = self.solves("-transposed -wind 0.4", "-ksp_use_explicittranspose")
        self.assert_solved(solve)

    def test_null_space(self):
        (solve,), _ = self.solves("-neumann")
        self.assert_solved(solve)
        self.assertLess(solve.mean, 1e-12)

    def test_no_solution(self):
        (solve,), _ = self.solves("-neumann -inconsistent")
        self.assertRegex(solve.reason, "^DIVERGED_")
        self.assertGreater(solve.residual, 0.1)


class Preconditioner(PetscTest):
    def pc(self, arguments, more):
        said = self.program(arguments, f"-pc_type ayatori -ksp_rtol 1e-8 -ksp_view {more}")
        return re.search(r"solve 1: (\w+) iterations (\d+) residual (\S+)", said), said

    def test_with_their_methods(self):
        for method in ("cg", "gmres", "bcgs"):
            found, said = self.pc("", f"-ksp_type {method} -ksp_norm_type unpreconditioned -ksp_pc_side {'left' if method == 'cg' else 'right'}")
            self.assertEqual(found[1], "CONVERGED_RTOL")
            self.assertLess(int(found[2]), 40)
            self.assertRegex(said, r"Ayatori: \S+, one application; .* is expected to be the soonest")

    def test_by_name(self):
        for name in ("jacobi", "amg", "ilu"):
            found, said = self.pc("-wind 0.1", f"-ksp_type gmres -pc_ayatori_preconditioner {name}")
            self.assertEqual(found[1], "CONVERGED_RTOL")
            self.assertIn(f"Ayatori: {name}, one application; it was asked for", said)

    def test_alone(self):
        found, said = self.pc("-wind 0.3", "-ksp_type preonly -pc_ayatori_rtol 1e-10")
        self.assertEqual(found[1], "CONVERGED_ITS")
        self.assertLessEqual(float(found[3]), 1e-10)
        self.assertIn("the whole solve to 1e-10", said)

    def test_alone_and_in_vain(self):
        found, _ = self.pc("-neumann -inconsistent", "-ksp_type preonly")
        self.assertEqual(found[1], "DIVERGED_PC_FAILED")

    def test_in_blocks_of_theirs(self):
        found, _ = self.pc("", "-ksp_type gmres -pc_type bjacobi -sub_pc_type ayatori -sub_ksp_type preonly")
        self.assertEqual(found[1], "CONVERGED_RTOL")

    def test_not_finite(self):
        found, _ = self.pc("-spoiled", "-ksp_type gmres")
        self.assertRegex(found[1], "^DIVERGED_")

    def test_wrong_names(self):
        self.assert_refused("Ayatori: .*unknown preconditioner 'foo'", options="-pc_type ayatori -pc_ayatori_preconditioner foo")

    def test_transposed(self):
        self.assert_refused("no transposed application", "-transposed -wind 0.4", "-pc_type ayatori -ksp_type gmres")


class Several(PetscTest):
    def test_by_turns_and_on_some_ranks(self):
        found, _ = self.solves("-case several")
        self.assertEqual([solve.name for solve in found], ["first", "second", "first", "second", "alone", "part"])
        for solve in found:
            self.assert_solved(solve)

    def test_their_memory_comes_back(self):
        times = 300 if RANKS == 1 else 60
        said = self.program(f"-case many -n 6 -times {times}")
        growth = float(re.search(r"growth (\S+)", said)[1])
        if not os.environ["AYATORI_SANITIZE"]:
            self.assertLess(growth, 1500, said)


class Versions(PetscTest):
    @unittest.skipIf(os.environ["AYATORI_SANITIZE"], "sanitizers want to be the first library")
    def test_another_petsc(self):
        done = launched(["env", f"LD_PRELOAD={os.environ['AYATORI_OTHER_VERSION']}", PROGRAM], "-ksp_type ayatori")
        said = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0, said)
        self.assertRegex(said, r"libayatori_petsc.so cannot be used: it was built for PETSc 3\.\d+, but the program has 3\.99")


if __name__ == "__main__":
    unittest.main()
