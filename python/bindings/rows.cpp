#include "python/bindings/rows.hpp"

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/problem/rows_in_memory.hpp"

namespace ayatori::python {

namespace {

template <class T>
std::span<const T> elements_of(const InputIndices& indices) {
  return {static_cast<const T*>(indices.data()), indices.size()};
}

}  // namespace

sparse::RowBlock make_rows(const comm::Comm& comm, const InputIndices& start, const InputIndices& column,
                           const InputVector& value, std::int64_t columns) {
  comm::agree(comm, [&] {
    if (start.dtype() != column.dtype()) throw InputError("row pointers and columns are of different types");
    if (start.dtype() != nb::dtype<std::int64_t>() && start.dtype() != nb::dtype<std::int32_t>())
      throw InputError("indices are int32 or int64");
  });
  if (start.dtype() == nb::dtype<std::int64_t>())
    return session::rows_in_memory(comm, elements_of<std::int64_t>(start), elements_of<std::int64_t>(column),
                                   span_of(value), columns);
  return session::rows_in_memory(comm, elements_of<std::int32_t>(start), elements_of<std::int32_t>(column),
                                 span_of(value), columns);
}

}  // namespace ayatori::python
