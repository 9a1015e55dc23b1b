#include "ayatori/solvers/complex_linear.hpp"

#include <cstdint>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

void turn_by_i(Vector pairs) {
  for (Complex& number : as_complex(pairs)) number = {-number.imag(), number.real()};
}

bool is_complex_linear(const GlobalSum& sum, const sparse::LinearOperator& op) {
  constexpr double nearly = 1e-6;
  const comm::Comm& comm = sum.comm();
  Array<double> x;
  Array<double> turned_after;
  Array<double> turned_before;
  comm::agree(comm, [&] {
    for (auto* vector : {&x, &turned_after, &turned_before}) vector->resize(op.local_size());
  });
  const std::int64_t first = comm.exclusive_sum(static_cast<std::int64_t>(x.size()));
  parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) {
    x[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1;
  });
  op.apply(x, turned_after);
  turn_by_i(turned_after);
  turn_by_i(x);
  op.apply(x, turned_before);
  subtract(turned_before, turned_after, turned_before);
  return norm(sum, turned_before) <= nearly * norm(sum, turned_after);
}

}  // namespace ayatori::solvers
