#include "ayatori/solvers/complex_linear.hpp"

#include <cstdint>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

bool is_complex_linear(const GlobalSum& sum, const sparse::LinearOperator& op) {
  constexpr double nearly = 1e-6;
  constexpr Complex i{0, 1};
  const comm::Comm& comm = sum.comm();
  Array<double> x;
  Array<double> turned_after;
  Array<double> turned_before;
  comm::agree(comm, [&] {
    for (auto* vector : {&x, &turned_after, &turned_before}) vector->resize(op.local_size());
  });
  const std::int64_t first = comm.exclusive_sum(static_cast<std::int64_t>(x.size()));
  parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t k) {
    x[k] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + k)) - 1;
  });
  op.apply(x, turned_after);
  scale(i, as_complex(Vector(turned_after)));
  scale(i, as_complex(Vector(x)));
  op.apply(x, turned_before);
  subtract(turned_before, turned_after, turned_before);
  return norm(sum, turned_before) <= nearly * norm(sum, turned_after);
}

}  // namespace ayatori::solvers
