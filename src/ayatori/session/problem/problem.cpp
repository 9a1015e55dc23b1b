#include "ayatori/session/problem/problem.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/problem/coordinates.hpp"
#include "ayatori/session/problem/fields.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/partition/move_parts.hpp"

namespace ayatori::session {

namespace {

/// The seed behind "random:" or another prefix; nothing if the spec does not start so.
std::optional<std::uint64_t> seed_after(const std::string& spec, std::string_view prefix) {
  if (!spec.starts_with(prefix)) return std::nullopt;
  const auto seed = number_in<std::uint64_t>(std::string_view(spec).substr(prefix.size()));
  if (!seed) throw InputError(fmt::format("--rhs {}: '{}' wants a seed, a whole number", spec, prefix));
  return seed;
}

/// Uniform in [-1, 1), a function of the global row in the file's numbering.
Array<double> random_vector(Range rows, std::uint64_t seed) {
  Array<double> values(rows.size());
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    values[i - rows.begin] = 2 * random_uniform(seed, static_cast<std::uint64_t>(i)) - 1;
  }
  return values;
}

}  // namespace

Array<double> Problem::to_solver(const comm::Comm& comm, Array<double> of_file) const {
  return permutation ? sparse::permute(comm, of_file, *permutation) : std::move(of_file);
}

Array<double> Problem::to_file(const comm::Comm& comm, Array<double> of_solver) const {
  return permutation ? sparse::permute_back(comm, of_solver, *permutation) : std::move(of_solver);
}

Array<std::int64_t> Problem::row_numbers(const comm::Comm& comm) const {
  if (!permutation && !source.is_complex) return {};
  Array<double> numbers(file_rows.range(comm.rank()).size());  // which doubles hold
  std::iota(numbers.begin(), numbers.end(), static_cast<double>(file_rows.range(comm.rank()).begin));
  Array<std::int64_t> here;
  for (const double number : to_solver(comm, std::move(numbers)))
    here.push_back(static_cast<std::int64_t>(number) / (source.is_complex ? 2 : 1));
  return here;
}

PartitionKind partition_kind(const std::string& word) {
  if (word == "contiguous") return PartitionKind::contiguous;
  if (word == "graph") return PartitionKind::graph;
  throw InputError(fmt::format("--partition {}: {}", word, choose_from(word, {"contiguous", "graph"})));
}

Problem load_problem(const comm::Comm& comm, const std::string& source, PartitionKind kind,
                     const OrderParts& order_parts) {
  return spread_problem(comm, io::load_matrix(comm, source), kind, order_parts);
}

namespace {

/// Collective. A graph partition of a real form, which leaves pairs together.
sparse::Permutation partition_pairs(const comm::Comm& comm, const sparse::RowBlock& real_form) {
  const auto pattern = comm::agree(comm, [&] { return sparse::complex_pattern(real_form); });
  const auto permutation = sparse::graph_partition(comm, pattern);
  return comm::agree(comm, [&] { return sparse::of_pairs(permutation); });
}

/// Parts of the rows, and the parts brought to their ranks.
Problem spread(const comm::Comm& comm, io::LoadedMatrix loaded, sparse::RowPartition file_rows,
               PartitionKind kind, const OrderParts& order_parts) {
  std::optional<sparse::Permutation> permutation;
  const auto fingerprint = sparse::fingerprint(comm, loaded.block);  // before rows get other numbers
  if (kind == PartitionKind::graph && comm.size() > 1) {
    permutation = loaded.facts.is_complex ? partition_pairs(comm, loaded.block)
                                          : sparse::graph_partition(comm, loaded.block);
    loaded.block = sparse::permute(comm, loaded.block, *permutation);
  }
  auto parts = std::make_shared<const sparse::SplitMatrix>(
      sparse::split(comm, order_parts ? loaded.block : std::move(loaded.block)));
  const auto rank_of_part = order_parts ? order_parts(*parts) : std::nullopt;
  if (rank_of_part) {
    const auto move = comm::agree(comm, [&] {
      if (!permutation) permutation = sparse::unchanged(file_rows, comm.rank());
      permutation = sparse::move_parts(*std::move(permutation), *rank_of_part);
      return sparse::move_parts(sparse::unchanged(parts->partition, comm.rank()), *rank_of_part);
    });
    parts.reset();
    loaded.block = sparse::permute(comm, loaded.block, move);
    parts = std::make_shared<const sparse::SplitMatrix>(sparse::split(comm, std::move(loaded.block)));
  }
  return {std::move(loaded.facts), fingerprint, std::move(parts), std::move(file_rows),
          std::move(permutation)};
}

/// What the request asks for of rows that `spread_rows` spreads in the one way or the other.
template <class SpreadRows>
Problem spread_as_asked(const Session& session, const SolveRequest& request, SpreadRows&& spread_rows) {
  const auto kind = comm::agree(session.comm, [&] { return partition_kind(request.partition); });
  std::optional<FoundPlacement> placement;
  OrderParts order_parts;
  if (request.placement != "none")
    order_parts = [&](const sparse::SplitMatrix& parts) {
      placement = find_placement(session.comm, parts, session.machine, request.placement, request.network,
                                 request.max_iterations);
      return placement->moves ? std::optional(placement->order.rank_of_part) : std::nullopt;
    };
  Problem problem = spread_rows(kind, order_parts);
  problem.placement = std::move(placement);
  comm::agree(session.comm, [&] {
    if (problem.source.is_complex && !(request.coordinates.empty() && request.fields.empty()))
      throw InputError(
          fmt::format("{}: --coordinates and --fields are for real matrices", problem.source.name));
  });
  if (!request.coordinates.empty())
    problem.coordinates = load_coordinates(session.comm, request.coordinates, problem);
  if (!request.fields.empty()) problem.fields = load_fields(session.comm, request.fields, problem);
  return problem;
}

}  // namespace

Problem spread_problem(const comm::Comm& comm, io::LoadedMatrix loaded, PartitionKind kind,
                       const OrderParts& order_parts) {
  auto file_rows = sparse::balance_nonzeros(comm, loaded.block);
  if (loaded.facts.is_complex) file_rows = sparse::with_whole_pairs(file_rows);
  if (comm.size() > 1) loaded.block = sparse::redistribute(comm, loaded.block, file_rows);
  return spread(comm, std::move(loaded), std::move(file_rows), kind, order_parts);
}

Problem load_problem(const Session& session, const std::string& source, const SolveRequest& request) {
  return spread_as_asked(session, request, [&](PartitionKind kind, const OrderParts& order_parts) {
    return load_problem(session.comm, source, kind, order_parts);
  });
}

Problem spread_problem(const Session& session, io::LoadedMatrix loaded, const SolveRequest& request) {
  return spread_as_asked(session, request, [&](PartitionKind kind, const OrderParts& order_parts) {
    auto rows = sparse::partition_of(session.comm, loaded.block);
    return spread(session.comm, std::move(loaded), std::move(rows), kind, order_parts);
  });
}

Problem keep_problem(const Session& session, io::SourceFacts facts, sparse::SplitMatrix parts,
                     const SolveRequest& request) {
  return spread_as_asked(session, request, [&](PartitionKind kind, const OrderParts& order_parts) {
    comm::agree(session.comm, [&] {
      if (kind != PartitionKind::contiguous || order_parts)
        throw InputError("--partition and --placement are not for rows that stay where they are");
    });
    auto rows = parts.partition;
    return Problem{std::move(facts), std::nullopt,
                   std::make_shared<const sparse::SplitMatrix>(std::move(parts)), std::move(rows)};
  });
}

bool is_made(std::string_view rhs) {
  return rhs == "ones" || rhs.starts_with("random:") || rhs.starts_with("solution-random:");
}

std::vector<std::string> name_right_hand_sides(const comm::Comm& comm,
                                               const std::vector<std::string>& specs) {
  std::vector<std::string> names;
  for (const std::string& spec : specs) {
    const std::int64_t columns = is_made(spec) ? 1 : io::count_vectors(comm, spec);
    if (columns == 1) names.push_back(spec);
    for (std::int64_t k = 1; k <= columns && columns > 1; ++k) names.push_back(fmt::format("{}:{}", spec, k));
  }
  return names;
}

RightHandSide make_right_hand_side(const comm::Comm& comm, const Problem& problem, const std::string& spec) {
  const Range mine = problem.file_rows.range(comm.rank());
  if (spec == "ones") {
    Array<double> ones(problem.parts->plan.local_size, 1.0);
    if (problem.source.is_complex) std::ranges::fill(sparse::as_complex(std::span(ones)), 1.0);
    return {std::move(ones), std::nullopt};
  }
  const auto [random, solution_random] = comm::agree(
      comm, [&] { return std::pair(seed_after(spec, "random:"), seed_after(spec, "solution-random:")); });
  if (random) return {problem.to_solver(comm, random_vector(mine, *random)), std::nullopt};
  if (!solution_random) {
    return {
        problem.to_solver(comm, io::load_vector(comm, spec, problem.file_rows, problem.source.is_complex)),
        std::nullopt};
  }
  auto solution = problem.to_solver(comm, random_vector(mine, *solution_random));
  Array<double> b(solution.size());
  sparse::multiply_reference(comm, *problem.parts, solution, b);
  return {std::move(b), std::move(solution)};
}

}  // namespace ayatori::session
