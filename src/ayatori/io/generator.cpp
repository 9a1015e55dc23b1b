#include "ayatori/io/generator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/find_named.hpp"
#include "ayatori/base/memory.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::io {

namespace {

std::string_view name_of(std::string_view spec) {
  return spec.substr(0, spec.find(':'));
}

/// "n=80 (1..100000, whole), ...": what a user may write.
std::string allowed(const Generator& generator) {
  std::string text;
  for (const auto& p : generator.parameters) {
    text += fmt::format("{}{} ({:.12g}..{:.12g}{})", text.empty() ? "" : ", ", p.key, p.min, p.max,
                        p.integer ? ", whole" : "");
  }
  return text;
}

double parse_value(std::string_view spec, const GeneratorParameter& parameter, std::string_view text) {
  const auto value = number_in<double>(text);
  // Written so that NaN fails as well.
  const bool in_range = value && *value >= parameter.min && *value <= parameter.max;
  if (!in_range || (parameter.integer && *value != std::floor(*value))) {
    throw InputError(fmt::format("{}: {} is '{}', but must be a {}number from {:.12g} to {:.12g}", spec,
                                 parameter.key, text, parameter.integer ? "whole " : "", parameter.min,
                                 parameter.max));
  }
  return *value;
}

/// Adds one "key=value" of the spec to what is `given`.
void parse_assignment(std::string_view spec, const Generator& generator, std::string_view assignment,
                      std::map<std::string, double>& given) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw InputError(fmt::format("{}: '{}' is not key=value; {} takes {}", spec, assignment, generator.name,
                                 allowed(generator)));
  }
  const auto key = assignment.substr(0, equals);
  const auto parameter = std::ranges::find(generator.parameters, key, &GeneratorParameter::key);
  if (parameter == generator.parameters.end()) {
    throw InputError(fmt::format("{}: unknown parameter '{}'; {} takes {}", spec, key, generator.name,
                                 allowed(generator)));
  }
  if (!given.emplace(key, parse_value(spec, *parameter, assignment.substr(equals + 1))).second) {
    throw InputError(fmt::format("{}: {} is given twice", spec, key));
  }
}

/// Values of all parameters: those of the spec, and the defaults of the others.
GeneratorParameters parse_parameters(std::string_view spec, const Generator& generator) {
  std::map<std::string, double> values;
  auto rest = spec.substr(generator.name.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);  // ':' or ','
    const auto assignment = rest.substr(0, rest.find(','));
    parse_assignment(spec, generator, assignment, values);
    rest.remove_prefix(assignment.size());
  }
  for (const auto& p : generator.parameters) values.emplace(p.key, p.default_value);
  return GeneratorParameters(std::move(values));
}

/// Memory that is only reserved looks free until it is written: a matrix that cannot fit is refused before.
void check_memory(const GeneratedMatrix& matrix, Range mine) {
  if (mine.empty()) return;
  RowBuilder row;
  matrix.row(mine.begin + mine.size() / 2, row);
  const double bytes =
      static_cast<double>(mine.size()) * (16.0 * static_cast<double>(row.sorted().size()) + 8);
  const auto memory = static_cast<double>(available_memory());
  if (bytes > memory) {
    throw EnvironmentError(
        fmt::format("out of memory: {} rows need about {:.3g} GB on this rank, {:.3g} are free: "
                    "use more nodes, or a smaller problem",
                    mine.size(), bytes * 1e-9, memory * 1e-9));
  }
}

/// Two passes over the rows, one for the lengths and one for the entries: no memory but the result's own,
/// which is first touched by the thread whose rows it holds.
sparse::RowBlock make_rows(const GeneratedMatrix& matrix, Range mine) {
  check_memory(matrix, mine);
  sparse::RowBlock block{matrix.rows, matrix.columns, mine.begin, Array<std::int64_t>(mine.size() + 1), {},
                         {}};
  block.row_start[0] = 0;
  parallel_ranges_throwing(mine.size(), [&](Range range) {
    RowBuilder row;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      row.clear();
      matrix.row(mine.begin + i, row);
      block.row_start[i + 1] = static_cast<std::int64_t>(row.sorted().size());
    }
  });
  for (std::int64_t i = 0; i < mine.size(); ++i) block.row_start[i + 1] += block.row_start[i];
  block.column.resize(block.row_start.back());
  block.value.resize(block.row_start.back());
  parallel_ranges_throwing(mine.size(), [&](Range range) {
    RowBuilder row;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      row.clear();
      matrix.row(mine.begin + i, row);
      std::int64_t k = block.row_start[i];
      for (const auto& [column, value] : row.sorted()) {
        block.column[k] = column;
        block.value[k++] = value;
      }
    }
  });
  return block;
}

}  // namespace

double GeneratorParameters::real(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  if (found == values_.end()) throw InternalError(fmt::format("generator has no parameter '{}'", key));
  return found->second;
}

std::int64_t GeneratorParameters::integer(std::string_view key) const {
  return static_cast<std::int64_t>(real(key));
}

template <class Value>
auto BasicRowBuilder<Value>::sorted() -> std::span<const ColumnValue> {
  const auto out_of_order = [](const ColumnValue& a, const ColumnValue& b) { return a.column >= b.column; };
  if (std::ranges::adjacent_find(entries_, out_of_order) == entries_.end()) return entries_;
  // Stable, so that equal columns are summed in the order they were added.
  std::ranges::stable_sort(entries_, {}, &ColumnValue::column);
  std::size_t kept = 0;
  for (std::size_t k = 1; k < entries_.size(); ++k) {
    if (entries_[k].column == entries_[kept].column) {
      entries_[kept].value += entries_[k].value;
    } else {
      entries_[++kept] = entries_[k];
    }
  }
  entries_.resize(kept + 1);
  return entries_;
}

template class BasicRowBuilder<double>;
template class BasicRowBuilder<sparse::Complex>;

const Generator& generator_of(std::string_view spec) {
  return find_named(generators(), name_of(spec), "generator");
}

bool is_generator(std::string_view spec) {
  return std::ranges::any_of(generators(), [&](const Generator& g) { return g.name == name_of(spec); });
}

GeneratedMatrix generated_matrix(std::string_view spec) {
  const Generator& generator = generator_of(spec);
  return generator.make(parse_parameters(spec, generator));
}

void check_square(std::string_view source, std::int64_t rows, std::int64_t columns) {
  if (rows != columns)
    throw InputError(fmt::format("{}: {} x {}, but it has to be square", source, rows, columns));
}

sparse::RowBlock generate(const comm::Comm& comm, std::string_view spec) {
  return comm::agree(comm, [&] {
    const GeneratedMatrix matrix = generated_matrix(spec);
    const std::int64_t together = generator_of(spec).is_complex ? 2 : 1;
    const Range mine = split_evenly(matrix.rows / together, comm.size(), comm.rank());
    return make_rows(matrix, {together * mine.begin, together * mine.end});
  });
}

}  // namespace ayatori::io
