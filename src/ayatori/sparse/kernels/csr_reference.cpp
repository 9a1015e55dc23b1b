#include "ayatori/sparse/kernels/kernels.hpp"

namespace ayatori::sparse {

namespace {

/// The definition of the product, each row in storage order: what all other kernels are compared with.
class CsrReference final : public Kernel {
 public:
  explicit CsrReference(const Csr& matrix) : matrix_(matrix) {}

  void multiply(std::span<const double> x, std::span<double> y) const override {
    multiply_reference(matrix_, x, y);
  }

  std::int64_t matrix_bytes() const override { return csr_bytes(matrix_.rows, matrix_.nonzeros()); }

 private:
  Csr matrix_;
};

}  // namespace

const KernelType csr_reference_kernel{
    .name = "csr-reference",
    .description = "compressed sparse rows, each row in storage order: the definition",
    .conversion_products = 1,
    .predicted_bytes =
        [](const PatternFacts& facts) { return std::optional(csr_bytes(facts.rows, facts.nonzeros)); },
    .indexed_accesses = [](const PatternFacts& facts) { return static_cast<double>(facts.nonzeros); },
    .make = [](const Csr& matrix) -> std::unique_ptr<Kernel> {
      return std::make_unique<CsrReference>(matrix);
    },
    .compressed_rows = true};

}  // namespace ayatori::sparse
