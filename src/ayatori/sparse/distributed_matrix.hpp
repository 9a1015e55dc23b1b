#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/sparse/pattern/row_order.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

/// How a matrix is multiplied: names from kernels() and halo_strategies().
struct ProductOptions {
  std::string kernel = "csr";  ///< storage format of the interior part, and of the halo part where it pays
  std::string halo = "p2p-irecv-first+overlap";  ///< how ghosts travel

  bool operator==(const ProductOptions&) const = default;
};

/// Seconds spent in the parts of all products so far.
struct ProductSeconds {
  double total = 0;  ///< in apply()
  double halo = 0;   ///< part of that: starting and completing the exchange
};

/// The rows of a square matrix that this rank owns, split by column: the interior part multiplies elements of
/// x that the rank owns, the halo part ghosts. Local column j of the interior is global
/// partition.range(rank).begin + j; local column g of the halo part is ghost g of the plan.
struct SplitMatrix {
  RowPartition partition;
  HaloPlan plan;
  Csr interior;                   ///< local_size x local_size
  Csr halo;                       ///< halo_rows.size() x ghosts: only rows that refer to ghosts
  Array<std::int32_t> halo_rows;  ///< local row of each row of `halo`
};

/// Whether this rank's rows have the same entries, of whatever values.
bool same_pattern(const SplitMatrix& a, const SplitMatrix& b);

/// The columns of these rows outside of `mine`, ascending and unique.
std::vector<std::int64_t> ghosts_of(const RowBlock& block, Range mine);

/// Collective. Splits the rows that this rank holds; where none refers to another rank's, they are moved.
/// Throws InputError if the matrix is not square, EnvironmentError if a rank's part has more than 2^31 - 1
/// rows or ghosts.
SplitMatrix split(const comm::Comm& comm, RowBlock block);

/// Collective. The same matrix with all its rows on the first rank; they must be less than 2^31.
SplitMatrix gather(const comm::Comm& comm, const SplitMatrix& parts);

/// Is told of every product. Both calls are made on every rank, and may be collective.
class ProductObserver {
 public:
  virtual ~ProductObserver() = default;
  virtual void before_product() = 0;
  virtual void after_product() = 0;  ///< may call DistributedMatrix::use()
};

/// A sparse matrix spread over the ranks of a communicator by rows: y = A x with a kernel and a halo strategy
/// of choice, which may change from product to product.
class DistributedMatrix final : public LinearOperator {
 public:
  /// Collective.
  DistributedMatrix(comm::Comm comm, std::shared_ptr<const SplitMatrix> parts,
                    const ProductOptions& options = {});
  DistributedMatrix(const comm::Comm& comm, const RowBlock& block, const ProductOptions& options = {});

  /// Collective. The kernel and halo strategy of the products from now on. Throws Error (agreed) and stays as
  /// it was if they cannot be built. What was built before is kept, so that going back costs nothing.
  void use(const ProductOptions& options);
  /// What the next product will use.
  const ProductOptions& options() const { return options_; }
  /// Frees what is built but not in use.
  void forget_unused();
  /// The observer, or none, must outlive its use.
  void set_observer(ProductObserver* observer) { observer_ = observer; }

  void apply(std::span<const double> x, std::span<double> y) const override;
  /// Collective. y += the columns of other ranks times x: what is left of a product where the rank's own
  /// block has been multiplied elsewhere. No observer is told.
  void add_halo_product(std::span<const double> x, std::span<double> y) const;
  std::int32_t local_size() const override { return parts_->plan.local_size; }

  const comm::Comm& comm() const { return comm_; }
  const SplitMatrix& parts() const { return *parts_; }
  std::shared_ptr<const SplitMatrix> shared_parts() const { return parts_; }
  const Csr& interior() const { return parts_->interior; }
  const RowPartition& partition() const { return parts_->partition; }
  std::int64_t global_rows() const { return parts_->partition.rows(); }
  const ProductSeconds& seconds() const { return seconds_; }
  std::int64_t matrix_bytes() const;

 private:
  /// A matrix in one storage format.
  struct Stored {
    std::unique_ptr<Kernel> interior;
    std::unique_ptr<Kernel> halo;  ///< none: compressed sparse rows
  };

  Stored store(const KernelType& type);
  void multiply(std::span<const double> x, std::span<double> y) const;
  void add_halo(std::span<const double> ghosts, std::span<double> y) const;

  comm::Comm comm_;
  std::shared_ptr<const SplitMatrix> parts_;
  std::map<std::string, Stored> kernels_;                           ///< by name
  std::map<std::string, std::unique_ptr<HaloExchange>> exchanges_;  ///< by name without "+overlap"
  ProductOptions options_;
  const Stored* kernel_ = nullptr;    ///< that of options_
  HaloExchange* exchange_ = nullptr;  ///< that of options_
  bool overlap_ = false;
  ProductObserver* observer_ = nullptr;
  RowOrder halo_order_;  ///< row order of products with the halo part where it is stored by rows
  std::optional<PatternFacts> halo_facts_;
  mutable Array<double> halo_sums_;  ///< sums of the halo part's rows; one product at a time
  mutable ProductSeconds seconds_;
};

/// Collective. y = A x by the plainest code: reference kernel, no overlap. What every fast path is compared
/// with. Claims are verified by residual(), which bounds its rounding.
void multiply_reference(const comm::Comm& comm, const SplitMatrix& parts, std::span<const double> x,
                        std::span<double> y);

}  // namespace ayatori::sparse
