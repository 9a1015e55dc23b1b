#include "ayatori/collectives/pmpi/kept_handles.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "ayatori/collectives/pmpi/data.hpp"

namespace ayatori::pmpi {

namespace {

/// Handles of one kind that calls use.
template <class Handle>
class Kept {
 public:
  void keep(Handle handle) {
    const std::lock_guard lock(mutex_);
    ++uses_[handle].number;
    ++number_;
  }

  /// Whether the program has freed it, and this was its last use.
  bool let_go(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(handle);
    --number_;
    if (--found->second.number > 0) return false;
    const bool is_freed = found->second.is_freed;
    uses_.erase(found);
    return is_freed;
  }

  bool free_later(Handle handle) {
    if (number_.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(handle);
    if (found == uses_.end()) return false;
    found->second.is_freed = true;
    return true;
  }

 private:
  struct Uses {
    int number = 0;
    bool is_freed = false;
  };
  std::mutex mutex_;
  std::map<Handle, Uses> uses_;
  std::atomic<int> number_ = 0;
};

/// Never destroyed, like the library.
Kept<MPI_Datatype>& types() {
  static auto* const the_types = new Kept<MPI_Datatype>;
  return *the_types;
}

Kept<MPI_Op>& ops() {
  static auto* const the_ops = new Kept<MPI_Op>;
  return *the_ops;
}

bool may_type_be_freed(MPI_Datatype type) {
  return type != MPI_DATATYPE_NULL && !layout_of_any(type).is_named;
}

bool may_op_be_freed(MPI_Op op) {
  return op != MPI_OP_NULL && !is_named(op);
}

}  // namespace

void keep_type(MPI_Datatype type) {
  if (may_type_be_freed(type)) types().keep(type);
}

void let_type_go(MPI_Datatype type) {
  if (may_type_be_freed(type) && types().let_go(type)) PMPI_Type_free(&type);
}

void keep_op(MPI_Op op) {
  if (may_op_be_freed(op)) ops().keep(op);
}

void let_op_go(MPI_Op op) {
  if (may_op_be_freed(op) && ops().let_go(op)) PMPI_Op_free(&op);
}

bool free_type_later(MPI_Datatype* type) {
  if (type == nullptr || !types().free_later(*type)) return false;
  *type = MPI_DATATYPE_NULL;
  return true;
}

bool free_op_later(MPI_Op* op) {
  if (op == nullptr || !ops().free_later(*op)) return false;
  *op = MPI_OP_NULL;
  return true;
}

}  // namespace ayatori::pmpi
