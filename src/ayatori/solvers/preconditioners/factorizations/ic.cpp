#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/schwarz.hpp"

namespace ayatori::solvers {

namespace {

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  return make_schwarz("ic", FactorOptions::Kind::ic, 1, matrix, options);
}

}  // namespace

const Preconditioner ic_preconditioner{
    .name = "ic",
    .description = "incomplete Cholesky with --fill levels, in single precision, of blocks that may overlap",
    .symmetric = true,
    .make = make,
    .obeys = {.overlap_and_ordering = true, .fill = true}};

}  // namespace ayatori::solvers
