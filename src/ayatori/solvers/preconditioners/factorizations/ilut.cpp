#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/preconditioners/schwarz.hpp"

namespace ayatori::solvers {

namespace {

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  return make_schwarz("ilut", FactorOptions::Kind::ilut, 10, matrix, options);
}

}  // namespace

const Preconditioner ilut_preconditioner{
    .name = "ilut",
    .description = "incomplete LU that drops small entries, in single precision, of blocks that may overlap",
    .symmetric = false,
    .make = make,
    .obeys = {.overlap_and_ordering = true, .fill = true, .drop_tolerance = true}};

}  // namespace ayatori::solvers
