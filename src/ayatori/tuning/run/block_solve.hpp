#pragma once

#include <span>
#include <vector>

#include "ayatori/tuning/reusable_setup.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// Right-hand sides of those still to solve that it pays to solve at once, at most `most`: 1 where what is
/// kept has no method with a block form, or where a block would move as many bytes as its columns one by one.
/// Collective.
int worthwhile_block(const comm::Comm& comm, const ReusableSetup& kept, int left, int most);

/// Collective. Solves for b.size() right-hand sides at once, by the numbers that won the solve `before` and
/// with the set-ups that it has left. Each x is judged by its own true residual, as by tuning::solve(), and
/// is never worse than it was. Reports are those of `before` but for what became of each; seconds are shared
/// evenly. options.time_limit is for each.
std::vector<SolveReport> solve_block(const comm::Comm& comm, std::span<const solvers::ConstVector> b,
                                     std::span<const solvers::Vector> x, const SolveOptions& options,
                                     const SolveHooks& hooks, const ReusableSetup& kept,
                                     const SolveReport& before);

}  // namespace ayatori::tuning
