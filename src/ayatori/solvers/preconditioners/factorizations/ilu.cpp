#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/schwarz.hpp"

namespace ayatori::solvers {

namespace {

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  return make_schwarz("ilu", FactorOptions::Kind::ilu, 0, matrix, options);
}

}  // namespace

const Preconditioner ilu_preconditioner{
    .name = "ilu",
    .description = "incomplete LU with --fill levels, in single precision, of blocks that may overlap",
    .symmetric = false,
    .make = make,
    .obeys = {.overlap_and_ordering = true, .fill = true}};

}  // namespace ayatori::solvers
