#include "ayatori/solvers/identity.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions&) {
  return {std::make_unique<Identity>(matrix.local_size()), {}};
}

}  // namespace

const Preconditioner none_preconditioner{
    .name = "none", .description = "the identity", .symmetric = true, .make = make};

}  // namespace ayatori::solvers
