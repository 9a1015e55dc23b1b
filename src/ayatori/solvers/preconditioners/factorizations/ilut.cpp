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
    "ilut",
    "incomplete LU that drops small entries, in single precision, of blocks that may overlap",
    false,
    140,
    2.5,
    make,
    {true, true, true}};

}  // namespace ayatori::solvers
