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
    "ilu",
    "incomplete LU with --fill levels, in single precision, of blocks that may overlap",
    false,
    30,
    1.2,
    make,
    {true, true, false}};

}  // namespace ayatori::solvers
