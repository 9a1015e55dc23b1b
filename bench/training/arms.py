"""What can be forced of a solve: every method with every preconditioner that applies, and a few options."""

# Likely ones first, so that the time limit is soon a tight one. Their variants tell what an option changes.
PRECONDITIONERS = (
    {"preconditioner": "jacobi"}, {"preconditioner": "block-ilu0"}, {"preconditioner": "amg"}, {"preconditioner": "ssor"},
    {"preconditioner": "ilut"}, {"preconditioner": "ic"}, {"preconditioner": "ilu"}, {"preconditioner": "none"},
    {"preconditioner": "block-jacobi"}, {"preconditioner": "chebyshev"}, {"preconditioner": "fsai"}, {"preconditioner": "neumann"},
    {"preconditioner": "boomeramg"}, {"preconditioner": "gmres-polynomial"},
    {"preconditioner": "ilu", "fill": 1}, {"preconditioner": "ic", "fill": 0}, {"preconditioner": "ic", "fill": 2},
    {"preconditioner": "ilut", "fill": 30, "drop": 1e-4}, {"preconditioner": "ilut", "fill": 5, "drop": 1e-2},
    {"preconditioner": "chebyshev", "degree": 8})
SYMMETRIC = {"none", "jacobi", "ssor", "block-jacobi", "block-ilu0", "ic", "fsai", "neumann", "chebyshev", "amg", "boomeramg"}
UNSYMMETRIC = {"none", "jacobi", "ssor", "block-jacobi", "block-ilu0", "ilu", "ilut", "neumann", "chebyshev", "gmres-polynomial", "fsai",
               "amg", "boomeramg"}
DIRECT = {"preconditioner": "direct"}
# Of complex matrices that are not Hermitian: what is linear in complex numbers comes first.
COMPLEX = ("jacobi", "block-ilu0", "none", "ssor", "ilut", "ilu", "amg")
COMPLEX_SYMMETRIC = ("jacobi", "block-ilu0", "none")

# Methods that differ from another one in an iteration's price, or on many ranks: these preconditioners show by how much.
CG_KIN = {"refined-cg": ("jacobi", "block-ilu0", "ic", "amg"), "pipelined-cg": ("jacobi",)}
GMRES_KIN = {"refined-gmres": ("block-ilu0", "ilut", "amg", "jacobi"), "fgmres": ("block-ilu0", "amg"), "pipelined-gmres": ("jacobi",)}


def looks_definite(facts):
    """As the tuner says it: symmetric with a diagonal of one sign."""
    return facts["symmetric"] and facts["rows"] in (facts["positive_diagonals"], facts["negative_diagonals"])


def is_complex(facts):
    """As the tuner says it: complex and not Hermitian."""
    return facts.get("complex", False) and not facts["symmetric"]


def odd_diagonals(facts):
    """As the tuner says it: diagonal entries that are zero or of the rarer sign."""
    return facts["rows"] - max(facts["positive_diagonals"], facts["negative_diagonals"])


def may_have_constraints(facts):
    """As the tuner says it: some diagonal entries, at most half of all, are odd."""
    return 0 < 2 * odd_diagonals(facts) <= facts["rows"]


def suits(name, facts):
    """As the tuner says it: whether an arm of the model is one for a matrix of these facts. Where CG may be used, methods for any matrix
    need as many products with a symmetric preconditioner, and more memory traffic."""
    method, preconditioner = options_of(name)["method"], options_of(name)["preconditioner"]
    needs_symmetric, needs_definite = method in ("cg", "minres"), method == "cg"
    if preconditioner.startswith("schur") and not may_have_constraints(facts):
        return False
    if method == "cocg" and not facts["complex_symmetric"]:
        return False
    if looks_definite(facts) and preconditioner in SYMMETRIC and not needs_symmetric:
        return False
    return (facts["symmetric"] or not needs_symmetric) and (looks_definite(facts) or not needs_definite)


def with_basis(method, restart):
    built_in = method in ("pipelined-gmres", "refined-gmres")
    return {"method": method, "restart": restart, **({} if built_in else {"orthogonalization": "cgs"})}


def arms_of(facts):
    """The forced options of every arm that applies to a matrix of these facts, in the order in which to run them."""
    if is_complex(facts):
        return arms_of_complex(facts)
    definite = looks_definite(facts)
    of_symmetric = [one for one in PRECONDITIONERS if one["preconditioner"] in SYMMETRIC]
    of_all = [one for one in PRECONDITIONERS if one["preconditioner"] in UNSYMMETRIC]
    plain = [one for one in of_all if len(one) == 1]
    arms = []
    if definite:
        arms += [{"method": "cg", **one} for one in of_symmetric[:3]]
    else:
        arms += [{"method": "bicgstab", **one} for one in of_all[:3]]
    arms.append({**with_basis("gmres", 30), **DIRECT})
    if definite:
        arms += [{"method": "cg", **one} for one in of_symmetric]
        arms += [{"method": method, "preconditioner": one} for method, kin in CG_KIN.items() for one in kin]
    if may_have_constraints(facts):
        arms += [{**with_basis("gmres", 100), "preconditioner": "schur"}, {"method": "bicgstab", "preconditioner": "schur"},
                 {**with_basis("fgmres", 30), "preconditioner": "schur"}]
        if facts["symmetric"]:
            arms.append({"method": "minres", "preconditioner": "schur-definite"})
    if facts["symmetric"]:
        arms += [{"method": "minres", **one} for one in of_symmetric if len(one) == 1]
    arms += [{"method": "bicgstab", **one} for one in of_all]
    arms += [{**with_basis("gmres", 30), **one} for one in of_all]
    arms += [{"method": "idr", **one} for one in plain]
    arms += [{**with_basis("gmres", 100), **one} for one in plain]
    arms += [{**with_basis(method, 30), "preconditioner": one} for method, kin in GMRES_KIN.items() for one in kin]
    return list({name_of(arm): arm for arm in arms}.values())


def arms_of_complex(facts):
    of_all = [{"preconditioner": one} for one in COMPLEX]
    arms = [{"method": "bicgstab", **one} for one in of_all[:2]]
    arms.append({**with_basis("gmres", 30), **DIRECT})
    if facts["complex_symmetric"]:
        arms += [{"method": "cocg", "preconditioner": one} for one in COMPLEX_SYMMETRIC]
    arms += [{"method": "bicgstab", **one} for one in of_all[2:]]
    for restart in (30, 100):
        arms += [{**with_basis("gmres", restart), **one} for one in of_all]
    return arms


def name_of(arm):
    """'gmres(30) + ilut, fill=30, drop=0.0001'"""
    restart = f"({arm['restart']})" if "restart" in arm else ""
    more = [f", {key}={arm[key]}" for key in ("fill", "drop", "degree") if key in arm]
    return f"{arm['method']}{restart} + {arm['preconditioner']}{''.join(more)}"


def options_of(name):
    """The other way round."""
    first, *more = name.split(", ")
    method, preconditioner = first.split(" + ")
    if "(" in method:
        method, restart = method.rstrip(")").split("(")
        options = {**with_basis(method, int(restart)), "preconditioner": preconditioner}
    else:
        options = {"method": method, "preconditioner": preconditioner}
    for word in more:
        key, value = word.split("=")
        options[key] = float(value) if key == "drop" else int(value)
    return options
