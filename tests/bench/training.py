"""The training systems and their records: a small system of every family, and a recording from end to end."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import scipy.sparse.linalg
except ImportError as error:
    print(f"SKIPPED: could not import {error.name}")
    sys.exit(77)  # tests/bench/CMakeLists.txt takes it for a skip

TRAINING = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "training"
sys.path[:0] = [str(TRAINING), str(TRAINING.parent / "peers")]

import arms  # noqa: E402
import fit  # noqa: E402
import model  # noqa: E402
import record  # noqa: E402
import records  # noqa: E402
import same_arms  # noqa: E402
import systems  # noqa: E402
import table  # noqa: E402

SIZE = 400
EASY, UNSYMMETRIC, COMPLEX = "own-poisson:spec=poisson2d-5:400:0", "absorbing-chain::400:0", "photons::400:0"


def is_definite(matrix, is_singular):
    """By a Cholesky factorization of the matrix with ones on the diagonal, shifted a little where it is singular."""
    dense = matrix.toarray()
    scale = 1 / np.sqrt(dense.diagonal())
    dense *= scale[:, None] * scale
    try:
        np.linalg.cholesky(dense + (1e-10 if is_singular else 0) * np.eye(len(dense)))
    except np.linalg.LinAlgError:
        return False
    return True


def make(test, recipe):
    """The system; a skip where its package, one of bench/training/requirements.txt, is not there."""
    try:
        return systems.make(recipe)
    except ModuleNotFoundError as error:
        test.assertEqual(recipe.family.kind, "packaged")
        test.skipTest(f"no {error.name}, which is optional")


class Families(unittest.TestCase):
    def test_each_makes_what_it_declares(self):
        self.assertGreaterEqual(len(systems.FAMILIES), 40)
        self.assertEqual(len({family.name for family in systems.FAMILIES}), len(systems.FAMILIES))
        for family in systems.FAMILIES:
            with self.subTest(family.name):
                self.check_declared(family)

    def check_declared(self, family):
        system = make(self, systems.Recipe(family, family.settings[0], SIZE, 0))
        matrix, b = system.matrix, system.b
        self.assertEqual(matrix.shape, (len(b), len(b)))
        self.assertTrue(SIZE / 8 <= len(b) <= 4 * SIZE, len(b))
        self.assertTrue(np.isfinite(matrix.data).all() and np.isfinite(b).all() and b.any())
        self.assertTrue(matrix.has_canonical_format)
        if family.symmetric:
            self.assertEqual(abs(matrix - matrix.T).max(), 0)
        if family.definite:
            self.assertTrue(is_definite(matrix, family.singular))

    def test_the_same_recipe_makes_the_same_system(self):
        for family in systems.FAMILIES:
            with self.subTest(family.name):
                recipe = systems.Recipe(family, family.settings[-1], 200, 3)
                one, other = make(self, recipe), systems.make(systems.recipe_of(recipe.name))
                self.assertEqual(one.recipe, other.recipe)
                self.assertTrue(np.array_equal(one.matrix.data, other.matrix.data) and np.array_equal(one.matrix.indices, other.matrix.indices))
                self.assertTrue(np.array_equal(one.b, other.b))

    def test_families_take_turns(self):
        names = [recipe.family.name for recipe in systems.recipes(most_rows=4000)]
        self.assertEqual(names[:len(systems.FAMILIES)], [family.name for family in systems.FAMILIES])
        recipes = [recipe.name for recipe in systems.recipes()]
        self.assertEqual(len(recipes), len(set(recipes)))
        self.assertEqual({recipe.family.kind for recipe in systems.recipes(["networks"])}, {"networks"})

    def test_assembly_is_exact_for_polynomials(self):
        """Against integrals over the unit square: of grad u . grad v, of u v and of an elastic body's energy."""
        rng = np.random.default_rng(0)
        for order in (1, 2):
            of = systems.diffusion.fe.space(*systems.diffusion.fe.mesh(60, 2, rng, delaunay=True), order)
            x, y = of.nodes.T
            u = x + 2 * y
            self.assertAlmostEqual(u @ systems.diffusion.fe.stiffness(of) @ u, 5)
            self.assertAlmostEqual(x @ systems.diffusion.fe.mass(of) @ y, 1 / 4)
            self.assertAlmostEqual(systems.diffusion.fe.load(of).sum(), 1)
            stretched = np.column_stack([x, 0 * x]).ravel()
            self.assertAlmostEqual(stretched @ systems.diffusion.fe.elasticity(of, 3.0, 5.0) @ stretched, 3 + 2 * 5)
        self.assertAlmostEqual(x**2 @ systems.diffusion.fe.stiffness(of) @ x**2, 4 / 3)

    def test_a_thin_slab_sags_like_a_plate(self):
        """Navier's series for a simply supported square: 0.004062 q a^4 / D in the middle."""
        for thickness in (0.2, 0.02):
            matrix, b = systems.bodies.slab(3000, None, thickness=thickness)
            stiffness = 3e10 * thickness**3 / 12 / (1 - 0.2**2)
            sag = scipy.sparse.linalg.spsolve(matrix.tocsc(), b).max()
            self.assertAlmostEqual(sag / (0.004062 * 5e3 * 20**4 / stiffness), 1, delta=0.01)

    def test_a_vault_sags_like_that_of_scordelis_and_lo(self):
        """By 0.3024 at the middle of a free edge, with E = 4.32e8 and a load of 90, where shells are thin."""
        recipe = systems.Recipe(next(family for family in systems.FAMILIES if family.name == "vault"), dict(opening=0.0, poisson=0.0), 16000, 0)
        system = make(self, recipe)
        sag = -scipy.sparse.linalg.spsolve(system.matrix.tocsc(), system.b).min()
        self.assertAlmostEqual(sag / (0.3024 * (2500 * 9.81 * 0.25 / 90) * (4.32e8 / 3e10)), 1, delta=0.01)

    def test_nodes_without_a_mesh_differentiate_parabolas(self):
        x, y = (rng := np.random.default_rng(5)).permutation(systems.bodies.fe.jittered_points(20, 2, rng, 0.35)).T
        matrix, _ = systems.bodies.meshless(400, np.random.default_rng(5), wind=3.0)
        u = x**2 + x * y + 2 * y**2 + x
        inside = ~systems.bodies.fe.on_boundary(np.stack([x, y], axis=1))
        np.testing.assert_allclose(matrix @ u, np.where(inside, 3 * (2 * x + y + 1) - 6, u), atol=1e-8)


class Arms(unittest.TestCase):
    def test_names_say_all(self):
        facts = {"symmetric": True, "rows": 5, "positive_diagonals": 5, "negative_diagonals": 0}
        found = arms.arms_of(facts)
        self.assertGreaterEqual(len(found), 90)
        for arm in found:
            self.assertEqual(arms.options_of(arms.name_of(arm)), arm)
        self.assertFalse(any(arm["method"] in ("cg", "minres") for arm in arms.arms_of({**facts, "symmetric": False})))

    def test_those_of_complex_matrices_that_the_model_knows_are_recorded(self):
        facts = {"symmetric": False, "rows": 5, "positive_diagonals": 5, "negative_diagonals": 0, "complex": True}
        for symmetric in (True, False):
            facts["complex_symmetric"] = symmetric
            names = {arms.name_of(arm) for arm in arms.arms_of(facts)}
            self.assertEqual({name for name in model.COMPLEX_ARMS if arms.suits(name, facts)}, names & set(model.COMPLEX_ARMS))
            self.assertEqual("cocg + jacobi" in names, symmetric)


class Recording(unittest.TestCase):
    ARMS = ("bicgstab + jacobi", "gmres(30) + block-ilu0", records.TUNED)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ayatori-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "records.jsonl.gz"

    def record(self, *options):
        done = subprocess.run([sys.executable, TRAINING / "record.py", self.file, *options], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_from_end_to_end(self):
        self.record("--systems", EASY, UNSYMMETRIC, COMPLEX, "--arms", *self.ARMS)
        found = records.load(self.file)
        self.assertEqual(list(found), [EASY, UNSYMMETRIC, COMPLEX])
        for name, system in found.items():
            self.assertEqual(system["facts"]["rows"], systems.make(systems.recipe_of(name)).matrix.shape[0])
            self.assertEqual(set(system["arms"]), set(self.ARMS))
            for arm in system["arms"].values():
                self.assertEqual(arm["outcome"], "converged")
                self.assertLessEqual(arm["residual"], 1e-8)
                self.assertEqual(len(arm["again"]), record.FINALS)
                if arm["arm"] != records.TUNED:
                    self.assertLess(arm["setup"] + arm["iterations"] * arm["iteration"], 1.01 * arm["total"])
                    self.assertEqual(sorted(arm["at"]), arm["at"])
                    points = records.history(arm)
                    self.assertEqual(points[-1][0], arm["iterations"])
                    self.assertLess(points[-1][1], -7.9)
        self.assertTrue(found[EASY]["facts"]["symmetric"])
        self.assertFalse(found[UNSYMMETRIC]["facts"]["symmetric"])
        self.assertTrue(found[COMPLEX]["facts"]["complex_symmetric"])
        self.assertIn("| all | 3 | 3 | 3 |", table.table(found, "family"))

    def test_goes_on_where_it_was_broken_off(self):
        self.record("--systems", EASY, "--arms", *self.ARMS[:1])
        whole = self.file.read_bytes()
        self.file.write_bytes(whole + gzip.compress(b'{"system":"torn"}\n')[:-9])
        self.assertEqual(list(records.load(self.file)), [EASY])
        self.assertEqual(self.record("--systems", EASY, "--arms", *self.ARMS[:1]), "")
        self.assertEqual(self.file.read_bytes(), whole)
        self.record("--systems", EASY, "--arms", *self.ARMS[:2])
        self.assertEqual(set(records.load(self.file)[EASY]["arms"]), set(self.ARMS[:2]))

    def test_what_fails_says_why(self):
        self.record("--systems", "helmholtz:dimension=3:400:0", "--arms", "bicgstab + none", "gmres(30) + none", "--least", "1e-4", "--most", "1e-4")
        outcomes = {arm["outcome"] for arm in records.load(self.file)["helmholtz:dimension=3:400:0"]["arms"].values()}
        self.assertNotIn("converged", outcomes)

    def test_packed_files_say_the_same(self):
        self.record("--systems", EASY, "--arms", *self.ARMS)
        packed = self.folder / "packed.jsonl.xz"
        records.pack(self.file, packed, 6, None)
        before, after = records.load(self.file)[EASY], records.load(packed)[EASY]
        self.assertEqual(before["facts"], after["facts"])
        for name, arm in before["arms"].items():
            self.assertAlmostEqual(after["arms"][name]["total"] / arm["total"], 1, delta=0.01)
            if "history" in arm:
                points = records.history(after["arms"][name])
                self.assertLessEqual(len(points), 6)
                self.assertEqual(points[-1], records.history(arm)[-1])


class Doubts(unittest.TestCase):
    def test_a_disturbed_system_stands_out(self):
        pace = {"cg + none": 1.5, "cg + ssor": 4.0, "cg + ilut": 9.0}

        def system(rows, slower):
            return {"facts": {"rows": rows}, "arms": {arm: {"iteration": slower * pace[arm]} for arm in pace}}

        found = {f"like {k}": system(4000 + k, 1 + 0.1 * k) for k in range(5)}
        self.assertEqual(records.doubtful(found), {})
        found |= {"disturbed": system(4000, 30), "of another size": system(10**6, 30)}
        self.assertEqual(list(records.doubtful(found)), ["disturbed"])

    def test_the_records_are_free_of_them(self):
        for file in sorted((TRAINING / "records").glob("*.xz")):
            self.assertEqual(records.doubtful(records.load(file)), {}, file.name)


class Models(unittest.TestCase):
    """On the records of the repository."""

    @classmethod
    def setUpClass(cls):
        cls.systems = fit.Systems(TRAINING / "records" / "first.jsonl.xz")

    def test_a_linear_law_is_found(self):
        x = np.hstack([np.ones((50, 1)), np.random.default_rng(1).standard_normal((50, 3))])
        weights = np.array([2.0, -1.0, 0.5, 0.0])
        np.testing.assert_allclose(fit.ridge(x, x @ weights, 1e-9), weights, atol=1e-8)

    def test_a_family_teaches_itself_nothing(self):
        test = self.systems.families == "heat"
        self.assertTrue(test.any())
        for model in fit.MODELS.values():
            before = model(self.systems, ~test, test, 10.0)
            kept = self.systems.total[test].copy()
            self.systems.total[test] *= 1000
            after = model(self.systems, ~test, test, 10.0)
            self.systems.total[test] = kept
            np.testing.assert_array_equal(before, after, model.__name__)

    def test_complex_systems_have_a_model_of_their_own(self):
        packed = [TRAINING / "records" / f"{name}.jsonl.xz" for name in ("large", "complex")]
        real, complex_ones = model.by_model(model.load(packed))
        self.assertEqual((real.is_complex, complex_ones.is_complex), (False, True))
        self.assertTrue({system["kind"] for system in complex_ones.systems} == {"complex"} != {system["kind"] for system in real.systems})
        self.assertIn("cocg + jacobi", complex_ones.arms)

    def test_what_does_not_apply_is_not_chosen(self):
        chosen = fit.choices(self.systems, fit.one_arm, 10.0)
        self.assertTrue(np.isfinite(self.systems.total[np.arange(len(chosen)), chosen]).all())


class SameArms(unittest.TestCase):
    def test_tells_where_we_take_more_iterations(self):
        theirs = {"solved": True, "seconds": 2.0, "setup": 1.0, "iterations": 20}
        own = {**theirs, "seconds": 3.0, "iterations": 80, "notes": ["shifted"]}
        text = same_arms.tables({"plate": {"bicgstab + ilu(0)": {"petsc": theirs, "ours": own},
                                           "cg + jacobi": {"petsc": theirs, "ours": {**theirs, "notes": []}}}})
        self.assertIn("| bicgstab + ilu(0) | bicgstab + block-ilu0 | 1 | 1 | 0 | 0 | 2.00 | 1.00 | 1.00 | 1.50 |", text)
        self.assertIn("| plate | bicgstab + ilu(0) | 20 | 40 | shifted |", text)
        self.assertNotIn("| plate | cg + jacobi", text)

    def test_names_arms_of_ours(self):
        for name in same_arms.SAME.values():
            self.assertEqual(arms.name_of(arms.options_of(name)), name)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unittest.main()
