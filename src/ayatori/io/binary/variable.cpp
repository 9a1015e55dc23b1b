#include "ayatori/io/binary/variable.hpp"

#include <algorithm>
#include <initializer_list>

#include "ayatori/base/error.hpp"

namespace ayatori::io {

namespace {

std::string describe(const std::vector<Variable>& variables) {
  std::string text;
  constexpr std::size_t longest = 400;
  for (const Variable& v : variables) {
    if (text.size() > longest) return text + ", ...";
    text += fmt::format("{}{} ({} x {}{})", text.empty() ? "" : ", ", v.name, v.rows, v.columns,
                        v.is_sparse ? ", sparse" : "");
  }
  return text.empty() ? "no matrix" : text;
}

/// The only one that is wanted, if there is one.
template <class Wanted>
const Variable* only(const std::vector<Variable>& variables, Wanted&& wanted) {
  if (std::ranges::count_if(variables, wanted) != 1) return nullptr;
  return &*std::ranges::find_if(variables, wanted);
}

bool is_sparse(const Variable& v) {
  return v.is_sparse;
}
bool is_full(const Variable& v) {
  return !v.is_sparse;
}
bool is_full_matrix(const Variable& v) {
  return !v.is_sparse && v.rows > 1 && v.columns > 1;
}
bool is_full_vector(const Variable& v) {
  return !v.is_sparse && v.rows * v.columns > 1;
}

/// The variable of this name; without a name, the only one of the first of these sorts that has any.
Variable choose(const ByteSource& source, const std::vector<Variable>& variables, const std::string& name,
                std::initializer_list<bool (*)(const Variable&)> sorts) {
  const Variable* chosen = nullptr;
  if (!name.empty()) {
    chosen = only(variables, [&](const Variable& v) { return v.name == name; });
    if (chosen == nullptr)
      chosen = only(variables, [&](const Variable& v) {
        return v.name.ends_with("." + name) || v.name.ends_with("/" + name);
      });
    if (chosen == nullptr)
      throw InputError(fmt::format("{}: no variable is called {}: it holds {}", source.name(),
                                   in_quotes(name), describe(variables)));
  }
  for (const auto sort : sorts) {
    if (chosen != nullptr || !std::ranges::any_of(variables, sort)) continue;
    chosen = only(variables, sort);
    break;
  }
  if (chosen == nullptr) {
    throw InputError(
        fmt::format("{}: holds {}: say which, {}:NAME", source.name(), describe(variables), source.name()));
  }
  return *chosen;
}

}  // namespace

Variable choose_matrix(const ByteSource& source, const std::vector<Variable>& variables,
                       const std::string& name) {
  return choose(source, variables, name, {is_sparse, is_full_matrix, is_full_vector, is_full});
}

Variable choose_vectors(const ByteSource& source, const std::vector<Variable>& variables,
                        const std::string& name) {
  return choose(source, variables, name, {is_full_vector, is_full});
}

Vectors vectors_of(const Variable& variable) {
  return {variable.name, variable.rows == 1 ? 1 : variable.columns};
}

void check_sizes(const ByteSource& source, const Variable& variable) {
  if (std::max(variable.rows, variable.columns) > most_rows(source)) {
    throw InputError(fmt::format("{}: {} x {} of {} is out of all proportion to a file of {} bytes",
                                 source.name(), variable.rows, variable.columns, variable.name,
                                 source.size()));
  }
}

}  // namespace ayatori::io
