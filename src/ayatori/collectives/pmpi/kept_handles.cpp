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
template <class Handle>
Kept<Handle>& kept() {
  static auto* const the_kept = new Kept<Handle>;
  return *the_kept;
}

bool may_be_freed(MPI_Datatype type) {
  return type != MPI_DATATYPE_NULL && !layout_of_any(type).is_named;
}

bool may_be_freed(MPI_Op op) {
  return op != MPI_OP_NULL && !is_named(op);
}

}  // namespace

void keep(MPI_Datatype type) {
  if (may_be_freed(type)) kept<MPI_Datatype>().keep(type);
}

void keep(MPI_Op op) {
  if (may_be_freed(op)) kept<MPI_Op>().keep(op);
}

void let_go(MPI_Datatype type) {
  if (may_be_freed(type) && kept<MPI_Datatype>().let_go(type)) PMPI_Type_free(&type);
}

void let_go(MPI_Op op) {
  if (may_be_freed(op) && kept<MPI_Op>().let_go(op)) PMPI_Op_free(&op);
}

bool free_later(MPI_Datatype* type) {
  if (type == nullptr || !kept<MPI_Datatype>().free_later(*type)) return false;
  *type = MPI_DATATYPE_NULL;
  return true;
}

bool free_later(MPI_Op* op) {
  if (op == nullptr || !kept<MPI_Op>().free_later(*op)) return false;
  *op = MPI_OP_NULL;
  return true;
}

}  // namespace ayatori::pmpi
