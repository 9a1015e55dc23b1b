#include "ayatori/session/problem/fields.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/problem/input_file.hpp"

namespace ayatori::session {

Array<double> load_fields(const comm::Comm& comm, const std::string& path, const Problem& problem) {
  comm::agree(comm, [&] {
    if (comm.rank() == 0) check_input("--fields", path);
  });
  auto fields = io::load_vector(comm, path, problem.file_rows);
  comm::agree(comm, [&] {
    const auto bad = std::ranges::find_if(fields, [](double value) { return value != 0 && value != 1; });
    if (bad != fields.end())
      throw InputError(
          fmt::format("{}: row {} is of field {}, want 1 for constraints and 0 for other rows", path,
                      problem.file_rows.range(comm.rank()).begin + (bad - fields.begin()) + 1, *bad));
  });
  return problem.to_solver(comm, std::move(fields));
}

}  // namespace ayatori::session
