#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::io {

/// The parameters of a generator spec "name:key=value,key=value", checked against what the generator knows:
/// unknown keys, words where numbers belong and values out of range are InputErrors that say what is allowed.
class GeneratorParameters {
 public:
  explicit GeneratorParameters(std::map<std::string, double> values) : values_(std::move(values)) {}
  double real(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;

 private:
  std::map<std::string, double> values_;
};

struct GeneratorParameter {
  std::string_view key;
  double default_value;
  double min;
  double max;
  bool integer;
  std::string_view description;
};

/// Collects one row of real or complex numbers: columns in any order; equal columns are summed.
template <class Value>
class BasicRowBuilder {
 public:
  void add(std::int64_t column, Value value) { entries_.push_back({column, value}); }

  struct ColumnValue {
    std::int64_t column;
    Value value;
  };
  /// What was added, sorted by column with equal columns summed. Invalidated by add() and clear().
  std::span<const ColumnValue> sorted();
  void clear() { entries_.clear(); }

 private:
  std::vector<ColumnValue> entries_;
};

using RowBuilder = BasicRowBuilder<double>;
using ComplexRowBuilder = BasicRowBuilder<sparse::Complex>;

/// A matrix that can be asked for any of its rows, from any thread: rows are independent of each other, so
/// that every rank makes its own.
struct GeneratedMatrix {
  std::int64_t rows = 0;
  std::function<void(std::int64_t i, RowBuilder& row)> row;
  std::int64_t columns = rows;
};

/// An entry in the list of generators.
struct Generator {
  std::string_view name;
  std::string_view description;
  bool symmetric;  ///< Hermitian, where it is complex
  std::span<const GeneratorParameter> parameters;
  GeneratedMatrix (*make)(const GeneratorParameters& parameters);
  bool is_complex = false;  ///< what it makes is the real form of a complex matrix
};

/// Every generator. Adding one is a file in generators/ and a line in generators/list.cpp.
std::span<const Generator> generators();

/// Collective. The matrix of a spec, rows evenly spread, each rank making its own; both rows of a pair of a
/// real form are on one rank. Throws InputError.
sparse::RowBlock generate(const comm::Comm& comm, std::string_view spec);

/// The matrix of a spec, to be asked for its rows one by one. Throws InputError.
GeneratedMatrix generated_matrix(std::string_view spec);

/// Throws InputError, which names the matrix, if it is not square.
void check_square(std::string_view source, std::int64_t rows, std::int64_t columns);

/// Whether the spec names a generator (its parameters may still be wrong).
bool is_generator(std::string_view spec);

/// The generator that a spec names. Throws InputError.
const Generator& generator_of(std::string_view spec);

}  // namespace ayatori::io
