#include "bench/npb/matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/npb/random.hpp"

namespace ayatori::bench {

namespace {

/// 1 / condition number that the weights w_i aim at; also what is added to the diagonal.
constexpr double rcond = 0.1;
constexpr double set_value = 0.5;  ///< value of element i of v_i

constexpr std::array<NpbClass, 6> classes{{
    {"S", 1400, 7, 15, 10, 8.5971775078648},
    {"W", 7000, 8, 15, 12, 10.362595087124},
    {"A", 14000, 11, 15, 20, 17.130235054029},
    {"B", 75000, 13, 75, 60, 22.712745482631},
    {"C", 150000, 15, 75, 110, 28.973605592845},
    {"D", 1500000, 21, 100, 500, 52.514532105794},
}};

struct Element {
  std::int32_t place;  // 2^31 rows would be 300 times class D
  double value;
};

/// Those of the vectors v_i that reach into a range of rows.
struct Vectors {
  std::vector<std::int64_t> start{0};  ///< where each vector begins among the elements; one more
  std::vector<Element> element;        ///< by ascending place within a vector
  std::vector<double> weight;          ///< w_i
  std::vector<std::int32_t> set;       ///< i

  std::int64_t size() const { return static_cast<std::int64_t>(weight.size()); }
  std::span<const Element> operator[](std::int64_t v) const {
    return std::span(element).subspan(start[v], start[v + 1] - start[v]);
  }
};

/// `sprnvc` and `vecset`: random elements at different random places below n, then 0.5 at place i.
void draw_vector(const NpbClass& size, std::int64_t i, NpbRandom& random, std::vector<Element>& vector) {
  const auto power_of_two = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(size.rows)));
  vector.clear();
  while (static_cast<int>(vector.size()) < size.vector_nonzeros) {
    const double value = random.next();
    const auto place = static_cast<std::int32_t>(power_of_two * random.next());
    if (place >= size.rows) continue;
    if (std::ranges::find(vector, place, &Element::place) == vector.end()) vector.push_back({place, value});
  }
  const auto here = std::ranges::find(vector, static_cast<std::int32_t>(i), &Element::place);
  if (here != vector.end())
    here->value = set_value;
  else
    vector.push_back({static_cast<std::int32_t>(i), set_value});
  std::ranges::sort(vector, {}, &Element::place);
}

Vectors draw_vectors(const NpbClass& size, Range rows) {
  Vectors kept;
  NpbRandom random;
  random.next();  // the program draws one before it makes the matrix
  const double ratio = std::pow(rcond, 1.0 / static_cast<double>(size.rows));
  double weight = 1;
  std::vector<Element> vector;
  for (std::int64_t i = 0; i < size.rows; ++i, weight *= ratio) {
    draw_vector(size, i, random, vector);
    if (std::ranges::none_of(vector, [&](const Element& e) { return rows.contains(e.place); })) continue;
    kept.element.insert(kept.element.end(), vector.begin(), vector.end());
    kept.start.push_back(static_cast<std::int64_t>(kept.element.size()));
    kept.weight.push_back(weight);
    kept.set.push_back(static_cast<std::int32_t>(i));
  }
  return kept;
}

/// Which vectors have an element in a column, column after column.
struct ColumnIndex {
  struct Use {
    std::int32_t vector;
    double value;  ///< element of the vector in the column
  };
  Array<std::int64_t> start;
  Array<Use> use;

  ColumnIndex(const Vectors& vectors, std::int64_t columns)
      : start(columns + 1, 0), use(vectors.element.size()) {
    // Where a column begins is where the next begins once its vectors are in place.
    for (const Element& e : vectors.element) ++start[e.place];
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::int64_t{0});
    for (std::int64_t v = 0; v < vectors.size(); ++v) {
      for (const Element& e : vectors[v]) use[start[e.place]++] = {static_cast<std::int32_t>(v), e.value};
    }
    std::shift_right(start.begin(), start.end(), 1);
    start[0] = 0;
  }
};

/// Calls visit(row, column, value) for every product of two elements that falls into `rows`, by ascending
/// column: entries of a row come in the order in which they are stored, those of one place after each other.
template <class Visit>
void for_each_product(const NpbClass& size, const Vectors& vectors, const ColumnIndex& index, Range rows,
                      const Visit& visit) {
  for (std::int64_t column = 0; column < size.rows; ++column) {
    for (auto k = index.start[column]; k < index.start[column + 1]; ++k) {
      const auto [v, value] = index.use[k];
      const double weight = vectors.weight[v];
      const auto vector = vectors[v];
      const auto* e = vector.data();
      const auto* const end = e + vector.size();
      while (e != end && e->place < rows.begin) ++e;
      for (; e != end && e->place < rows.end; ++e) {
        const bool on_diagonal = e->place == column && column == vectors.set[v];
        visit(e->place, column, weight * (e->value * value) + (on_diagonal ? rcond - size.shift : 0));
      }
    }
  }
}

/// How many entries every row has in the interior and in the halo part.
struct Counts {
  Array<std::int64_t> interior;
  Array<std::int64_t> halo;
};

class Assembly {
 public:
  Assembly(const NpbClass& size, Range mine)
      : size_(size), mine_(mine), vectors_(draw_vectors(size, mine)), index_(vectors_, size.rows) {}

  /// Columns of others that these rows refer to: all of every vector that was kept.
  std::vector<std::int64_t> ghosts() const {
    std::vector<std::int64_t> ghosts;
    for (std::int64_t column = 0; column < size_.rows; ++column) {
      if (index_.start[column] < index_.start[column + 1] && !mine_.contains(column))
        ghosts.push_back(column);
    }
    return ghosts;
  }

  /// Fills the two parts of `matrix`, whose plan is made.
  void fill(sparse::SplitMatrix& matrix) const {
    const Counts counts = count();
    matrix.halo_rows.clear();
    for (std::int64_t r = 0; r < mine_.size(); ++r) {
      if (counts.halo[r] > 0) matrix.halo_rows.push_back(static_cast<std::int32_t>(r));
    }
    allocate(matrix.interior, counts.interior, mine_.size());
    allocate(matrix.halo, counts.halo, static_cast<std::int64_t>(matrix.plan.ghosts.size()));
    Array<std::int32_t> local(size_.rows);
    for (std::int64_t c = mine_.begin; c < mine_.end; ++c)
      local[c] = static_cast<std::int32_t>(c - mine_.begin);
    for (std::size_t g = 0; g < matrix.plan.ghosts.size(); ++g)
      local[matrix.plan.ghosts[g]] = static_cast<std::int32_t>(g);
    parallel_ranges(mine_.size(), [&](Range part) { fill_rows(matrix, local, part); });
    drop_empty_rows(matrix.halo);
  }

 private:
  Counts count() const {
    Counts counts{Array<std::int64_t>(mine_.size()), Array<std::int64_t>(mine_.size())};
    Array<std::int32_t> last(mine_.size());  // column of the last entry of each row
    parallel_ranges(mine_.size(), [&](Range part) {
      for (auto r = part.begin; r < part.end; ++r) counts.interior[r] = counts.halo[r] = 0, last[r] = -1;
      for_each_product(size_, vectors_, index_, global(part),
                       [&](std::int64_t row, std::int64_t column, double) {
                         const std::int64_t r = row - mine_.begin;
                         if (last[r] == column) return;
                         last[r] = static_cast<std::int32_t>(column);
                         ++(mine_.contains(column) ? counts.interior : counts.halo)[r];
                       });
    });
    return counts;
  }

  /// Rows of this rank in the numbering of the whole.
  Range global(Range part) const { return {mine_.begin + part.begin, mine_.begin + part.end}; }

  static void allocate(sparse::Csr& part, const Array<std::int64_t>& counts, std::int64_t columns) {
    part.rows = static_cast<std::int32_t>(counts.size());
    part.columns = static_cast<std::int32_t>(columns);
    part.row_start.resize(counts.size() + 1);
    part.row_start[0] = 0;
    std::inclusive_scan(counts.begin(), counts.end(), part.row_start.begin() + 1);
    part.column.resize(part.row_start.back());
    part.value.resize(part.row_start.back());
  }

  void fill_rows(sparse::SplitMatrix& matrix, const Array<std::int32_t>& local, Range part) const {
    std::vector<std::int64_t> next[2];  // where the next entry of each row goes
    sparse::Csr* const parts[2] = {&matrix.halo, &matrix.interior};
    for (int k = 0; k < 2; ++k)
      next[k].assign(parts[k]->row_start.begin() + part.begin, parts[k]->row_start.begin() + part.end);
    for_each_product(size_, vectors_, index_, global(part),
                     [&](std::int64_t row, std::int64_t column, double value) {
                       const std::int64_t r = row - mine_.begin;
                       const int k = mine_.contains(column) ? 1 : 0;
                       sparse::Csr& to = *parts[k];
                       std::int64_t& end = next[k][r - part.begin];
                       const std::int32_t c = local[column];
                       if (end > to.row_start[r] && to.column[end - 1] == c) {
                         to.value[end - 1] += value;
                       } else {
                         to.column[end] = c;
                         to.value[end++] = value;
                       }
                     });
  }

  static void drop_empty_rows(sparse::Csr& part) {
    const auto repeated = std::ranges::unique(part.row_start);
    part.row_start.erase(repeated.begin(), repeated.end());
    part.rows = static_cast<std::int32_t>(part.row_start.size()) - 1;
  }

  const NpbClass& size_;
  Range mine_;
  Vectors vectors_;
  ColumnIndex index_;
};

}  // namespace

std::span<const NpbClass> npb_classes() {
  return classes;
}

const NpbClass& npb_class(std::string_view name) {
  return find_named(npb_classes(), name, "class");
}

NpbBytes npb_bytes(const NpbClass& size, int ranks) {
  const auto rows = static_cast<double>(size.rows);
  const double elements = size.vector_nonzeros + 1;  // nonzeros of a vector; a row is in as many of them
  const double nonzeros = rows * (elements * (elements - 1) + 1);
  const double kept = 1 - std::pow(1 - 1.0 / ranks, elements);  // share of the vectors
  return {nonzeros, 12 * nonzeros / ranks, 32 * kept * rows * elements + 4 * rows};
}

sparse::SplitMatrix npb_matrix(const comm::Comm& comm, const NpbClass& size) {
  const auto partition = sparse::RowPartition::even(size.rows, comm.size());
  const Range mine = partition.range(comm.rank());
  const auto assembly = comm::agree(comm, [&] { return Assembly(size, mine); });
  auto ghosts = comm::agree(comm, [&] { return assembly.ghosts(); });
  sparse::SplitMatrix matrix{
      partition, sparse::make_halo_plan(comm, partition, std::move(ghosts)), {}, {}, {}};
  comm::agree(comm, [&] { assembly.fill(matrix); });
  return matrix;
}

}  // namespace ayatori::bench
