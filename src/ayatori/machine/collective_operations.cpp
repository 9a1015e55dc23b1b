#include "ayatori/machine/collective_operations.hpp"

#include <array>

namespace ayatori::machine {

namespace {

using comm::Comm;
using Count = std::int64_t;
constexpr auto type = comm::DataType::float64;
constexpr auto op = comm::ReduceOp::max;  // applied again and again, it changes nothing

}  // namespace

std::span<const CollectiveOperation> collective_operations() {
  static constexpr std::array list{
      CollectiveOperation{"barrier", false, false,
                          [](const Comm& c, double*, double*, Count) { c.collectives().barrier(c); }},
      CollectiveOperation{"broadcast", true, false,
                          [](const Comm& c, double* mine, double*, Count n) {
                            c.collectives().broadcast(c, mine, n, type, 0);
                          }},
      CollectiveOperation{"reduce", true, false,
                          [](const Comm& c, double* mine, double*, Count n) {
                            c.collectives().reduce(c, mine, n, type, op, 0);
                          }},
      CollectiveOperation{"allreduce", true, false,
                          [](const Comm& c, double* mine, double*, Count n) {
                            c.collectives().allreduce(c, mine, n, type, op);
                          }},
      CollectiveOperation{"reduce-scatter", true, true,
                          [](const Comm& c, double* mine, double* all, Count n) {
                            c.collectives().reduce_scatter(c, mine, all, n, type, op);
                          }},
      CollectiveOperation{"gather", true, true,
                          [](const Comm& c, double* mine, double* all, Count n) {
                            c.collectives().gather(c, mine, n, all, type, 0);
                          }},
      CollectiveOperation{"scatter", true, true,
                          [](const Comm& c, double* mine, double* all, Count n) {
                            c.collectives().scatter(c, mine, all, n, type, 0);
                          }},
      CollectiveOperation{"allgather", true, true,
                          [](const Comm& c, double* mine, double* all, Count n) {
                            c.collectives().allgather(c, mine, n, all, type);
                          }},
      CollectiveOperation{"alltoall", true, true, [](const Comm& c, double* mine, double* all, Count n) {
                            c.collectives().alltoall(c, mine, n, all, type);
                          }}};
  return list;
}

}  // namespace ayatori::machine
