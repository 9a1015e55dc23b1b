#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/problem/placement.hpp"
#include "ayatori/session/session.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/partition/graph_partition.hpp"
#include "ayatori/sparse/pattern/fingerprint.hpp"

namespace ayatori::session {

/// How rows are shared among ranks.
enum class PartitionKind {
  contiguous,  ///< blocks in the order of the file, of equal work
  graph,       ///< METIS or PT-Scotch: fewer neighbours and shorter messages, rows renumbered
};

/// What --partition asks for. Throws InputError.
PartitionKind partition_kind(const std::string& word);

struct SolveRequest;

/// The matrix as it is solved, and the way between the numbering of the files and that of the solver. A
/// complex matrix is in its real form (sparse/complex_form.hpp), and so are rows, partitions and vectors.
struct Problem {
  io::SourceFacts source;
  /// In the numbering of the file. None where it costs a pass that most solves do not need: see
  /// keep_problem().
  std::optional<sparse::Fingerprint> fingerprint;
  std::shared_ptr<const sparse::SplitMatrix> parts;
  sparse::RowPartition file_rows;                       ///< how vectors of the file's numbering are spread
  std::optional<sparse::Permutation> permutation = {};  ///< from the file's numbering to the solver's
  Array<double> coordinates = {};      ///< place of each own row's node, [3 * row + axis]; none if not known
  Array<double> near_null_space = {};  ///< as PreconditionerOptions::near_null_space; none if not known
  Array<double> fields = {};           ///< as PreconditionerOptions::fields, of own rows; none if not known
  std::optional<FoundPlacement> placement = {};  ///< none if it was not asked for

  Array<double> to_solver(const comm::Comm& comm, Array<double> of_file) const;
  Array<double> to_file(const comm::Comm& comm, Array<double> of_solver) const;
  /// Collective. The file's numbers of own rows, from 0, those of a complex row for both of its pair; none
  /// where they are those of the solver.
  Array<std::int64_t> row_numbers(const comm::Comm& comm) const;
};

/// Collective. Says which rank should take which part, by the parts in the order of ranks; nothing where they
/// are to stay.
using OrderParts = std::function<std::optional<std::vector<int>>(const sparse::SplitMatrix& parts)>;

/// Collective. Reads or generates `source`, spreads it, and brings the parts to their ranks, if `order_parts`
/// is there and wants it. Throws InputError, agreed.
Problem load_problem(const comm::Comm& comm, const std::string& source, PartitionKind kind,
                     const OrderParts& order_parts = nullptr);

/// Collective. The same of what has been loaded.
Problem spread_problem(const comm::Comm& comm, io::LoadedMatrix loaded, PartitionKind kind,
                       const OrderParts& order_parts = nullptr);

/// Collective. Reads or generates `source` and spreads it as the request says: partition, placement, network,
/// coordinates, fields. Throws InputError, agreed.
Problem load_problem(const Session& session, const std::string& source, const SolveRequest& request);

/// Collective. The same of rows that are there. Where no partition and no placement are asked for they stay
/// with their ranks, so that vectors need not be moved.
Problem spread_problem(const Session& session, io::LoadedMatrix loaded, const SolveRequest& request);

/// Collective. The same of rows that are split already, and stay with their ranks, without a fingerprint.
/// Throws InputError, agreed,
/// where the request would move them.
Problem keep_problem(const Session& session, io::SourceFacts facts, sparse::SplitMatrix parts,
                     const SolveRequest& request);

/// b, and the x that it was made from where one is known; both in the solver's numbering.
struct RightHandSide {
  Array<double> b;
  std::optional<Array<double>> solution;
};

/// Whether a right-hand side is made, not read.
bool is_made(std::string_view rhs);

/// Collective. What --rhs asks for, one by one: a file of several columns becomes "FILE:1", "FILE:2", ...
/// Throws InputError, agreed.
std::vector<std::string> name_right_hand_sides(const comm::Comm& comm, const std::vector<std::string>& specs);

/// Collective. What --rhs asks for: "ones", "random:SEED", "solution-random:SEED", or a file (a column
/// of it: "FILE:2"). Throws InputError, agreed.
RightHandSide make_right_hand_side(const comm::Comm& comm, const Problem& problem, const std::string& spec);

}  // namespace ayatori::session
