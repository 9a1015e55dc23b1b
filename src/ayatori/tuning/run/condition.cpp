#include "ayatori/tuning/run/condition.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/tuning/product/probe_vectors.hpp"

namespace ayatori::tuning {

double estimate_condition(const solvers::GlobalSum& sum, const sparse::LinearOperator& inverse,
                          double norm_infinity) {
  constexpr int steps = 4;
  const comm::Comm& comm = sum.comm();
  Array<double> v;
  Array<double> w;
  comm::agree(comm, [&] {
    v.resize(inverse.local_size());
    w.resize(inverse.local_size());
    std::uint64_t state = 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(comm.rank() + 1);
    for (double& element : v) {  // xorshift64 (Marsaglia)
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      element = (state & 1) != 0 ? 1 : -1;
    }
  });
  double largest = 0;
  for (int step = 0; step < steps; ++step) {
    inverse.apply(v, w);
    const double growth = comm.allreduce(solvers::local_max_abs(w), comm::ReduceOp::max);
    if (!std::isfinite(growth) || growth == 0) break;
    largest = std::max(largest, growth);
    solvers::copy(w, v);
    solvers::scale(1 / growth, v);
  }
  return norm_infinity * largest;
}

}  // namespace ayatori::tuning
